import pytest

from rubricate.formats.tables import decode_text, find_encoding


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman"])
@pytest.mark.parametrize(
    "text",
    [
        "38 °C",
        "café, naïve",
        "the patient’s fever",
        "“no pain” – since 3 days",
        "Müller, Größe",
        "± 3",
    ],
)
def test_texts_of_windows_and_of_a_mac_are_told_apart(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding)) == text


@pytest.mark.parametrize("text", ["5 € a day", "4 m²", "§ 3", "• cough", "SpO2…", "it’s"])
def test_signs_of_windows_stay_its_own(text: str) -> None:
    assert find_encoding([text.encode("cp1252")]) == "cp1252"


def test_bytes_of_no_encoding_are_damaged_utf_8() -> None:
    for raw in (b"\x81\xfd\xfe", b"fever \xc3\xa9 and \xff", bytes(range(128, 256))):
        assert find_encoding([raw]) == "utf-8-sig"

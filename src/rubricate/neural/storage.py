"""Networks in model folders: read to be trained further, written to run without torch."""

from __future__ import annotations

from pathlib import Path

from rubricate.neural.export import export_int8, weights_of_onnx
from rubricate.neural.model_folder import NETWORK_FILE, SETTINGS_FILE, Settings
from rubricate.neural.network import Network, Shape


def read_network(folder: Path) -> Network:
    """Return the network of a model folder, its weights taken back from the file it runs from."""
    network = Network(Shape(**Settings.read(folder / SETTINGS_FILE).shape))
    network.load_state_dict(weights_of_onnx(folder / NETWORK_FILE))
    return network


def write_network(network: Network, folder: Path) -> None:
    """Write the network into a model folder."""
    export_int8(network, folder / NETWORK_FILE)

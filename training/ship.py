"""Make the folder of a network that ships from its packed weights.

python ship.py fast OUT/student_mini TOKENIZER FOLDER
python ship.py accurate OUT/final_mpnet TOKENIZER FOLDER
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from packing import load_parts

from rubricate.neural.encoder.model_folder import NETWORK_FILE, TOKENIZER_FILE
from rubricate.neural.training.export import export_int8, export_packed
from rubricate.neural.training.network import Network, Shape

SHAPES = {
    "fast": Shape(),
    "accurate": Shape(
        dim=768, layers=12, heads=12, inner=3072, scorer_dim=256, relative=True, epsilon=1e-5
    ),
}


def main() -> None:
    """Write network and tokenizer; thresholds and calibration are chosen afterwards."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", choices=sorted(SHAPES))
    parser.add_argument("weights", type=Path, help="stem of the parts")
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    network = Network(SHAPES[given.name])
    network.load_state_dict(load_parts(given.weights))
    network.eval()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.name == "fast":
        export_int8(network, given.folder / NETWORK_FILE)
    else:
        export_packed(network, given.folder)
    tokenizer = json.loads(given.tokenizer.read_text(encoding="utf-8"))
    compact = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    (given.folder / TOKENIZER_FILE).write_text(compact, encoding="utf-8")


if __name__ == "__main__":
    main()

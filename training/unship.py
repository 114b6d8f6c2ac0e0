"""Pack the weights of a shipped network for a run that goes on from it.

python unship.py fast|accurate STEM
"""

from __future__ import annotations

import sys
from pathlib import Path

from packing import PART, levels5, rows8, save_parts

from rubricate.neural.encoder.model_folder import shipped_folder
from rubricate.neural.training.export import read_network

if __name__ == "__main__":
    weights = dict(read_network(shipped_folder(sys.argv[1])).named_parameters())
    pack = levels5 if sys.argv[1] == "accurate" else rows8
    print(save_parts(pack(weights), Path(sys.argv[2]), PART), "parts")

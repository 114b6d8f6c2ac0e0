"""Networks that start from public weights, and those weights packed for transport.

python backbones.py model.safetensors FOLDER/mini
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from net import Network, Shape
from packing import PART, Weights, rows8, save_parts
from safetensors.torch import load_file

BERT = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mixed": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "norm": "output.LayerNorm",
}
MPNET = {
    **BERT,
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "mixed": "attention.attn.o",
    "attention_norm": "attention.LayerNorm",
}
#: Pieces that MPNet has elsewhere than BERT: [CLS], [SEP], [PAD], [MASK], [UNK].
MOVED = ((101, 0), (102, 2), (0, 1), (103, 30526), (100, 3))


@torch.no_grad()
def start(shape: Shape, weights: Weights) -> Network:
    """Return a network that starts from MiniLM (BERT) or MPNet, words in BERT's order."""
    net = Network(shape)
    encoder, own = net.encoder, dict(net.encoder.named_parameters())
    w = {k.removeprefix("mpnet.").removeprefix("bert."): v.float() for k, v in weights.items()}
    words = w["embeddings.word_embeddings.weight"]
    places = w["embeddings.position_embeddings.weight"]
    if shape.relative:
        full, words = words, words[4 : 4 + shape.n_pieces].clone()
        for bert, mpnet in MOVED:
            words[bert] = full[mpnet]
        places = places[2:514]
        encoder.sides.weight.zero_()
        relative = w["encoder.relative_attention_bias.weight"]
        mean = relative.mean(0, keepdim=True).expand(2, -1)
        encoder.relative.weight.copy_(torch.cat([relative, mean]))
    else:
        encoder.sides.weight.copy_(w["embeddings.token_type_embeddings.weight"])
    encoder.words.weight.copy_(words)
    encoder.positions.weight.copy_(places)
    encoder.norm.weight.copy_(w["embeddings.LayerNorm.weight"])
    encoder.norm.bias.copy_(w["embeddings.LayerNorm.bias"])
    for i in range(shape.layers):
        for mine, theirs in (MPNET if shape.relative else BERT).items():
            for part in ("weight", "bias"):
                value = w[f"encoder.layer.{i}.{theirs}.{part}"]
                own[f"layers.{i}.{mine}.{part}"].copy_(value)
    return net


if __name__ == "__main__":
    print(save_parts(rows8(load_file(sys.argv[1])), Path(sys.argv[2]), PART), "parts")

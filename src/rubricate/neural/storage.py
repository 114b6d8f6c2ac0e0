"""Networks in model folders: read to be trained further, written to run without torch."""

from __future__ import annotations

from pathlib import Path

import torch

from rubricate.errors import Fault, InputError
from rubricate.neural.export import export_int8, weights_of_onnx
from rubricate.neural.model_folder import (
    CONFIG_FILE,
    NETWORK_FILE,
    SETTINGS_FILE,
    WEIGHTS_FILE,
    Settings,
)
from rubricate.neural.network import Network, Shape


def read_network(folder: Path) -> Network:
    """Return the network of a model folder.

    The weights of our own encoder are taken back from the file it runs from; an encoder of the
    transformers library (which must be installed, a hub is not asked) has them beside it.

    Raises
    ------
    InputError
        If a file is missing or belongs to another network.
    MissingExtraError
        If transformers is needed and not installed.
    """
    settings = folder / SETTINGS_FILE
    try:
        shape = Shape(**Settings.read(settings).shape)
    except TypeError as error:
        raise InputError([Fault("not the sizes of a network", settings)]) from error
    if shape.architecture is None:
        network = Network(shape)
        network.load_state_dict(weights_of_onnx(folder / NETWORK_FILE))
        return network
    return _read_wrapped(shape, folder)


def write_network(network: Network, folder: Path) -> None:
    """Write the network into a model folder."""
    export_int8(network, folder / NETWORK_FILE)
    if network.shape.architecture is not None:
        _write_wrapped(network, folder)


def _read_wrapped(shape: Shape, folder: Path) -> Network:
    from rubricate.neural.backbone import read_weights
    from rubricate.neural.hub import empty_model
    from rubricate.neural.wrapped import WrappedEncoder

    network = Network(shape, WrappedEncoder(empty_model(folder)))
    stored = read_weights(folder / WEIGHTS_FILE)
    own = dict(network.named_parameters())
    if stored.keys() != own.keys() or any(stored[n].shape != p.shape for n, p in own.items()):
        raise InputError([Fault("the weights of another network", folder / WEIGHTS_FILE)])
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(stored[name].float())
    return network


def _write_wrapped(network: Network, folder: Path) -> None:
    from safetensors.torch import save_file

    from rubricate.matchers.model_files import write_json
    from rubricate.neural.wrapped import WrappedEncoder

    if not isinstance(network.encoder, WrappedEncoder):
        raise TypeError("a network whose shape names an architecture has a wrapped encoder")
    write_json(folder / CONFIG_FILE, network.encoder.plain_config())
    halves = {}
    for name, parameter in network.named_parameters():
        whole = parameter.detach().cpu()
        half = whole.half()
        # A weight that half precision cannot hold stays as it is.
        halves[name] = (half if bool(half.isfinite().all()) else whole).contiguous()
    save_file(halves, folder / WEIGHTS_FILE)

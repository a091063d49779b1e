"""ONNX files of tests, written field by field: the package ``onnx`` is large and writes nothing that is not here."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def _tensor(name: str, values: npt.NDArray[np.float32]) -> bytes:
    dims = b"".join(_number(1, size) for size in values.shape)
    return dims + _number(2, 1) + _bytes(8, name) + _bytes(9, values.astype("<f4").tobytes())


def _outside(name: str, values: npt.NDArray[np.float32]) -> bytes:
    """Return a tensor whose numbers stand in another file."""
    dims = b"".join(_number(1, size) for size in values.shape)
    return (
        dims + _number(2, 1) + _bytes(8, name) + _bytes(13, _bytes(1, "location") + _bytes(2, "x.bin")) + _number(14, 1)
    )


def _value(name: str, shape: Sequence[int | str], kind: int = 1) -> bytes:
    dims = b"".join(_bytes(1, _bytes(2, n) if isinstance(n, str) else _number(1, n)) for n in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dims)))


def _node(kind: str, inputs: Sequence[str], output: str, **numbers: int) -> bytes:
    attributes = (_bytes(5, _bytes(1, name) + _number(3, value) + _number(20, 2)) for name, value in numbers.items())
    return b"".join(_bytes(1, each) for each in inputs) + _bytes(2, output) + _bytes(4, kind) + b"".join(attributes)


def linear(
    shape: Sequence[int | str],
    weights: npt.NDArray[np.float32],
    bias: npt.NDArray[np.float32],
    *,
    kind: int = 1,
    outside: bool = False,
    inputs: int = 1,
) -> bytes:
    """Return a network whose scores are flat observations times weights, and a bias.

    Args:
        shape: Of its input, the batch first.
        weights: (numbers of an observation, actions).
        bias: (actions,).
        kind: Type of its input: 1 float32, 2 uint8.
        outside: Whether the weights stand in another file.
        inputs: How many inputs it has.
    """
    nodes = [
        _node("Cast", ["seen"], "float", to=1),
        _node("Flatten", ["float"], "flat", axis=1),
        _node("Gemm", ["flat", "w", "b"], "scores"),
    ]
    tensors = [(_outside if outside else _tensor)("w", weights), _tensor("b", bias)]
    more = [_value(f"more_{k}", [1]) for k in range(inputs - 1)]
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, "policy")
    graph += b"".join(_bytes(5, tensor) for tensor in tensors)
    graph += b"".join(_bytes(11, value) for value in (_value("seen", shape, kind), *more))
    graph += _bytes(12, _value("scores", ["n", len(bias)]))
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 17))


def not_a_number() -> float:
    """Return a float that is no number."""
    return float(struct.unpack("<f", b"\x00\x00\xc0\x7f")[0])

"""A network in an ONNX file, run by onnxruntime: what it takes, and what it says of each action.

ONNX holds numbers and operators and runs no code of whoever wrote it, as a pickle (``torch.save``, the zip files of
Stable-Baselines3) does. Weights beside the file are not read, so that its digest covers all of it.
"""

from __future__ import annotations

import hashlib
import importlib
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from teamworld.errors import UserError
from teamworld.plain_files import read_file

#: Bytes of the largest file; protocol buffers end here too.
LARGEST: Final = 2**31 - 1
_TYPES: Final = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
}
_PICKLES: Final = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
_EXPORT: Final = "export the network: torch.onnx.export(network, (example,), 'policy.onnx', external_data=False)"


def read_network(file: str) -> bytes:
    """Return what is in the file of a network.

    Raises:
        UserError: It cannot be read, or is a pickle.
    """
    try:
        data = read_file(Path(file), LARGEST)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"the policy {file} cannot be read ({why}): name an ONNX file, as policy:FILE.onnx") from None
    if data.startswith(_PICKLES):
        raise UserError(f"{file} is a pickle, which can run any code when it is opened, so it is not; {_EXPORT}")
    if not data.startswith(b"\x08"):  # its first field is the version of the format
        raise UserError(f"{file} is no ONNX file; {_EXPORT}")
    return data


def digest_of(data: bytes) -> str:
    """Return ``sha256:`` and 32 hexadecimal digits that name what a file holds."""
    return f"sha256:{hashlib.sha256(data).hexdigest()[:32]}"


class Network:
    """An open network with one input and, as its first output, a score for each action.

    Args:
        file: For messages.
        data: What is in the file.

    Raises:
        UserError: onnxruntime is not installed, or the network cannot be used.
    """

    def __init__(self, file: str, data: bytes) -> None:
        self.file = file
        self._session = _open(file, data)
        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        if len(inputs) != 1 or not outputs:
            names = ", ".join(each.name for each in inputs) or "none"
            raise UserError(
                f"{file}: a policy takes one input, an agent's observation; this has {len(inputs)}: {names}"
            )
        self._input, self._output = inputs[0].name, outputs[0].name
        batch, *shape = [length if isinstance(length, int) else None for length in inputs[0].shape or [0]]
        if inputs[0].type not in _TYPES or batch not in (1, None):
            raise UserError(
                f"{file}: a policy takes numbers with a batch of 1 or any size as first axis; this takes "
                f"{inputs[0].type} {inputs[0].shape}"
            )
        self.shape: tuple[int | None, ...] = tuple(shape)
        """Of one observation."""
        self._type = _TYPES[inputs[0].type]

    def score(self, observation: npt.NDArray[Any], actions: int) -> npt.NDArray[np.float64]:
        """Return a score for each action, such as the logarithm of its probability but for a constant.

        Raises:
            UserError: It cannot be run, gives another number of scores, or one that is no number.
        """
        batch = np.ascontiguousarray(observation[None], self._type)
        try:
            scores = np.asarray(self._session.run([self._output], {self._input: batch})[0], np.float64)
        except Exception as error:
            raise UserError(f"{self.file}: the network cannot be run: {_line(error)}") from error
        if scores.shape not in ((actions,), (1, actions)):
            raise UserError(
                f"{self.file}: the first output of a policy is one score for each of the {actions} actions, shape "
                f"(1, {actions}); got {scores.shape}"
            )
        if not np.isfinite(scores).all():
            raise UserError(f"{self.file}: a score of an action is not finite: {scores.reshape(-1).tolist()}")
        return scores.reshape(-1)


@lru_cache(maxsize=8)
def open_network(file: str, digest: str) -> Network:
    """Return the network in a file, opened once in a process.

    Args:
        file: The file.
        digest: Of what it has to hold.

    Raises:
        UserError: It holds something else, or cannot be used.
    """
    data = read_network(file)
    if (held := digest_of(data)) != digest:
        raise UserError(
            f"the policy {file} is another than the run was begun with (it was {digest}, now {held}): put back what it "
            "was, or start anew with another --out"
        )
    return Network(file, data)


def _open(file: str, data: bytes) -> Any:  # noqa: ANN401  (a package without types)
    try:
        runtime = importlib.import_module("onnxruntime")
    except ImportError:
        raise UserError(
            "a policy needs the package onnxruntime, which is not installed: pip install 'teamworld[policy]'"
        ) from None
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # sums in one order
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # what goes wrong is raised
    # Weights in other files would be looked for here, where nothing is.
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", f"{file}.none")
    try:
        return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        if "xternal data" in str(error):
            raise UserError(
                f"{file}: its weights stand in another file, which its digest does not cover; {_EXPORT}"
            ) from error
        raise UserError(f"{file} cannot be opened as an ONNX file: {_line(error)}; {_EXPORT}") from error


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]

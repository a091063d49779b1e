"""A model file that llama.cpp runs in the process that makes its client: one of its own, see ``child_process``."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import llama_cpp
from llama_cpp import Llama, LlamaGrammar, _internals

from teamworld.reasoning.llm.contract import Completion, Fault, ProviderError, Request, Usage

#: Tokens of a prompt and its answer together at most, and of the model's own limit.
CONTEXT = 16_384
_EDGE = 1 << 20  # bytes of a file's beginning and end that its fingerprint is taken from
_JSON = json.dumps({"type": "object"})


def _do_nothing(disable: bool = True) -> AbstractContextManager[None]:
    return nullcontext()


_silent = llama_cpp.llama_log_callback(lambda *_: None)  # what goes wrong comes back as an error
# llama-cpp-python silences the whole process while it loads a file: a question to a person would be lost, and after
# two files that load at once all that is printed. llama.cpp itself is silenced instead.
for module in (llama_cpp.llama, _internals):
    vars(module)["suppress_stdout_stderr"] = _do_nothing
llama_cpp.llama_log_set(_silent, None)


class LocalClient:
    """One model file; answers one request at a time, in a thread of its own.

    The file is loaded for the first request: a run that goes on from its record alone needs no memory for it. All
    layers go to a graphics card where llama.cpp was built for one.

    Args:
        path: The model file, in GGUF.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        self._turn = asyncio.Lock()
        self._use = threading.Lock()  # of the model, which a thread may hold longer than its request has a turn
        self._stop = threading.Event()  # of the request that is answered
        self._closed = False
        self._abort = llama_cpp.ggml_abort_callback(lambda _: self._is_cancelled())  # kept as long as the model
        self._llama: Llama | None = None
        self._served = ""
        self._grammars: dict[str, LlamaGrammar] = {}

    async def complete(self, request: Request) -> Completion:
        """Answer a request.

        Raises:
            ProviderError: The file cannot be loaded, the request does not fit, or llama.cpp failed.
        """
        async with self._turn:
            stop = threading.Event()
            work = asyncio.create_task(asyncio.to_thread(self._run_request, request, stop))
            try:
                outcome = await asyncio.shield(work)
            except asyncio.CancelledError:  # the time is over: stop within a token, then let the next one begin
                stop.set()
                await asyncio.wait([work])
                raise
        if isinstance(outcome, Fault):
            raise ProviderError(outcome)
        return outcome

    async def close(self) -> None:
        """Let go of the model; a request that is answered ends within a token."""
        self._closed = True
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._use:
            if self._llama is not None:
                self._llama.close()
                self._llama = None

    def _is_cancelled(self) -> bool:
        return self._closed or self._stop.is_set()

    def _run_request(self, request: Request, stop: threading.Event) -> Completion | Fault:
        with self._use:
            self._stop = stop
            if self._is_cancelled():
                return Fault(kind="late", text="the time was over before the model was free")
            return self._complete(request)

    def _complete(self, request: Request) -> Completion | Fault:
        if request.form == "tool":
            return Fault(kind="unfit", text="a model file takes no tools; try --answers schema, json or text")
        try:
            llama = self._llama = self._llama or self._load()
        except Exception as error:  # noqa: BLE001  whatever a damaged file makes the library raise
            hint = f"is it whole, and of a kind that llama-cpp-python {llama_cpp.__version__} knows?"
            return Fault(kind="unknown", text=f"{_one_line(error)} ({hint})")
        try:
            grammar = self._grammar(request, llama)
        except (ValueError, TypeError, KeyError, RuntimeError) as error:
            return Fault(
                kind="unfit", text=f"llama.cpp does not take the schema of {request.answer}: {_one_line(error)}"
            )
        try:
            return self._read(llama.create_chat_completion(grammar=grammar, **_chat_arguments(request)))
        except ValueError as error:  # the prompt is too long, or the model's template does not take it
            return Fault(kind="refused", text=_one_line(error))
        except Exception as error:  # noqa: BLE001  of llama.cpp, or of the template that the file brings
            return Fault(kind="late" if self._is_cancelled() else "broken", text=_one_line(error))

    def _load(self) -> Llama:
        # One that asks for the model's own limit may ask for more memory than there is.
        llama = Llama(str(self._path), n_ctx=CONTEXT, n_gpu_layers=-1, verbose=False)
        llama_cpp.llama_set_abort_callback(llama.ctx, self._abort, None)
        self._served = f"{llama.metadata.get('general.name', self._path.stem)} {fingerprint(self._path)}"
        return llama

    def _grammar(self, request: Request, llama: Llama) -> LlamaGrammar | None:
        """Return what holds the model to the form of the answer, token by token; raises ``ValueError``."""
        if request.form == "text":
            return None
        schema = json.dumps(request.schema) if request.form == "schema" else _JSON
        if schema not in self._grammars:
            grammar = LlamaGrammar.from_json_schema(schema, verbose=False)
            _check_grammar(grammar, llama)
            self._grammars[schema] = grammar
        return self._grammars[schema]

    def _read(self, response: Any) -> Completion:  # noqa: ANN401  (one of two types, by an argument)
        choice, usage = response["choices"][0], response["usage"]
        return Completion(
            text=choice["message"]["content"] or "",
            finish="length" if choice["finish_reason"] == "length" else "stop",
            usage=Usage(prompt=usage["prompt_tokens"], output=usage["completion_tokens"]),
            served=self._served,
        )


def _check_grammar(grammar: LlamaGrammar, llama: Llama) -> None:
    """See that llama.cpp can read a grammar: one that it cannot read crashes the process when it is used."""
    vocabulary = llama_cpp.llama_model_get_vocab(llama.model)
    sampler = llama_cpp.llama_sampler_init_grammar(vocabulary, grammar._grammar.encode(), grammar._root.encode())
    if not sampler:
        raise ValueError("its grammar is too large or not well formed")
    llama_cpp.llama_sampler_free(sampler)


def _chat_arguments(request: Request) -> dict[str, Any]:
    """Return a request as llama.cpp takes it; what is not said is left to it."""
    sampling = {"temperature": request.temperature, "top_p": request.top_p, "seed": request.seed}
    return {
        "messages": [{"role": turn.role, "content": turn.text} for turn in request.turns],
        "max_tokens": request.max_tokens,
        **{name: value for name, value in sampling.items() if value is not None},
    }


def fingerprint(path: Path) -> str:
    """Return a short digest of a file's size, beginning and end: it tells two models apart without reading all."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        digest = hashlib.blake2b(str(size).encode(), digest_size=8)
        for start in (0, max(0, size - _EDGE)):
            file.seek(start)
            digest.update(file.read(_EDGE))
    return digest.hexdigest()


def _one_line(error: Exception) -> str:
    return re.sub(r"\s+", " ", str(error))[:300] or type(error).__name__

"""Bodies without bounds: whatever a server sends, a response takes little memory and ends."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest

from teamworld.reasoning.llm.contract import Completion, Fault, ProviderError
from teamworld.reasoning.llm.model_names import parse_endpoint
from teamworld.reasoning.llm.providers import make_client
from tests.reasoning.llm import records

library = pytest.importorskip("teamworld.reasoning.llm.provider_client", reason="needs teamworld[llm]")

ANSWER = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "{}"}}],
}
GOOD = json.dumps(ANSWER).encode()
LARGE = 200 * 2**20
#: Bytes that are taken over what a good answer takes, at most.
MOST = 64 * 2**20


def whole(body: bytes, encoding: str = "") -> Iterator[bytes]:
    named = f"Content-Encoding: {encoding}\r\n" if encoding else ""
    yield (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{named}Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def endless() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    piece = b"10000\r\n" + 0x10000 * b" " + b"\r\n"
    for _ in range(LARGE // 0x10000):
        yield piece


def bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(bytes(2**20)) for _ in range(LARGE // 2**20)), packer.flush()])


def ask(pieces: Iterator[bytes]) -> Completion | Fault:
    """Return what comes of one call to a server that sends these bytes."""

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        writer.close()

    async def one() -> Completion | Fault:
        server = await asyncio.start_server(reply, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        client = make_client(parse_endpoint(f"http://127.0.0.1:{port}/v1#m"), None, connect=2.0, read=10.0)
        try:
            return await client.complete(records.request())
        except ProviderError as error:
            return error.fault
        finally:
            await client.close()
            server.close()

    return asyncio.run(one())


@pytest.mark.parametrize("encoding", ["", "identity", "gzip", "deflate"])
def test_a_good_answer_in_each_encoding(encoding: str) -> None:
    packed = {"gzip": gzip.compress(GOOD), "deflate": zlib.compress(GOOD)}
    answer = ask(whole(packed.get(encoding, GOOD), encoding))
    assert isinstance(answer, Completion), answer
    assert answer.text == "{}"


@pytest.mark.parametrize(
    ("counts", "prompt", "output"), [((0, 0), None, None), ((7, 0), 7, None), ((0, 3), None, 3), ((7, 3), 7, 3)]
)
def test_a_count_that_cannot_be_zero_is_unknown(
    counts: tuple[int, int], prompt: int | None, output: int | None
) -> None:
    usage = {"prompt_tokens": counts[0], "completion_tokens": counts[1], "total_tokens": sum(counts)}
    answer = ask(whole(json.dumps(ANSWER | {"usage": usage}).encode()))
    assert isinstance(answer, Completion), answer
    assert (answer.usage.prompt, answer.usage.output) == (prompt, output)


@pytest.mark.parametrize("kind", ["bomb", "endless"])
def test_a_body_without_bounds_is_a_fault(kind: str) -> None:
    ask(whole(GOOD))  # what is imported and kept does not count
    pieces = whole(bomb(), "gzip") if kind == "bomb" else endless()
    tracemalloc.start()
    try:
        fault = ask(pieces)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(fault, Fault)
    assert fault.kind in ("broken", "gone")
    assert "more than 16 MB" in fault.text
    assert peak < MOST


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(gzip.compress(GOOD)[:-20], "gzip"), (b"no gzip", "gzip"), (GOOD, "br"), (GOOD, "gzip, gzip")],
)
def test_a_body_that_cannot_be_unpacked_is_a_fault(body: bytes, encoding: str) -> None:
    assert isinstance(ask(whole(body, encoding)), Fault)

"""Bodies without bounds: whatever a server sends, a response takes little memory and ends."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import tracemalloc
import zlib
from collections.abc import Iterator
from typing import cast

import pytest

from teamworld.reasoning.llm.contract import Completion, Fault, ProviderError
from teamworld.reasoning.llm.keys import Secret
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


def ask(pieces: Iterator[bytes], secret: Secret | None = None) -> Completion | Fault:
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
        client = make_client(parse_endpoint(f"http://127.0.0.1:{port}/v1#m"), secret, connect=2.0, read=10.0)
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


@pytest.mark.parametrize(("count", "good"), [(20_000, True), (200_000, False)])
def test_a_body_in_pieces_of_a_byte(count: int, good: bool) -> None:
    body = GOOD.ljust(count)

    def crumbs() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        for begin in range(0, count, 1000):
            yield b"".join(b"1\r\n%c\r\n" % byte for byte in body[begin : begin + 1000])
        yield b"0\r\n\r\n"

    answer = ask(crumbs())
    assert isinstance(answer, Completion) if good else "in more than 65536 pieces" in cast("Fault", answer).text


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
    assert "more than 1 MB" in fault.text
    assert peak < MOST


def long_bodies() -> dict[str, tuple[str, bytes]]:
    """Return the status and the body of responses that are as long as they may be and hard to take."""
    room = library.MOST_BYTES - 1000
    lists = b"[],"
    choice = json.dumps(_choice("{}")).encode() + b","
    head = GOOD[:-1] + b', "x": ['
    return {
        "lists": ("200 OK", head + lists * (room // 3) + b"0]}"),
        "choices": ("200 OK", b'{"choices": [' + choice * (room // len(choice)) + choice[:-1] + b"]}"),
        "half": ("200 OK", head + b"[" * room),
        "error": ("400 Bad", b'{"error": [' + lists * (room // 3) + b"0]}"),
        "message": ("400 Bad", json.dumps({"error": {"message": "\\x41" * (room // 6)}}).encode()),
        "page": ("400 Bad", b"<p>\xf0\x9f\x98\x80" * (room // 7)),
        "punycode": ("400 Bad\r\nContent-Type: text/html; charset=punycode", b"a-" + b"b9" * (room // 2)),
        "backslashes": ("200 OK", json.dumps(_answer("\\" * (room // 2))).encode()),
    }


def _answer(text: str) -> dict[str, object]:
    return ANSWER | {"choices": [_choice(text)]}


def _choice(text: str) -> dict[str, object]:
    return {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}


@pytest.mark.heavy
@pytest.mark.timeout(120)  # each takes seconds; were it not linear, it would be many minutes
@pytest.mark.parametrize(("kind", "packed"), [*((kind, False) for kind in long_bodies()), ("lists", True)])
def test_a_body_that_is_hard_to_take_costs_little(kind: str, packed: bool) -> None:
    status, body = long_bodies()[kind]
    ask(whole(GOOD))
    encoding = "Content-Encoding: gzip\r\n" if packed else ""
    sent = gzip.compress(body) if packed else body
    head = f"HTTP/1.1 {status}\r\n{encoding}Content-Length: {len(sent)}\r\n\r\n".encode()
    tracemalloc.start()
    try:
        got = ask(iter([head + sent]), Secret("sk-0123456789abcdef"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(got, Completion | Fault)
    assert peak < MOST
    if kind == "punycode":  # read as what it says it is, it takes half a minute and another text comes of it
        assert isinstance(got, Fault)
        assert got.text.startswith("HTTP 400: a-b9b9")


@pytest.mark.heavy
def test_memory_stays_flat() -> None:
    sent = gzip.compress(long_bodies()["lists"][1])
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(sent)}\r\n\r\n".encode()
    after: list[int] = []
    tracemalloc.start()
    try:
        for _ in range(6):
            ask(iter([head + sent]))
            gc.collect()
            after.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert after[-1] - after[2] < 2**20


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(gzip.compress(GOOD)[:-20], "gzip"), (b"no gzip", "gzip"), (GOOD, "br"), (GOOD, "gzip, gzip")],
)
def test_a_body_that_cannot_be_unpacked_is_a_fault(body: bytes, encoding: str) -> None:
    assert isinstance(ask(whole(body, encoding)), Fault)

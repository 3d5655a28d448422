"""Clients that stall, are slow, or send what could be read in two ways."""
import asyncio
import re
import socket
import time

from gateway import GUARD_SECONDS, TESTS, ask, metrics, request, route
from table import Row

STALLED_BYTES = 256 * 1024
BODY_BYTES = 1024 * 1024
KIB_PER_CONNECTION_MAX = 16
# Of what was resident before. A tenth of the little that the short form takes is a page here and there.
GROWTH_MAX = {"long": 0.1, "short": 0.3}


def settled_kib(server):
    """What is resident once that does not sink any more."""
    last = server.memory_kib()
    for _ in range(10):
        time.sleep(1)
        now = server.memory_kib()
        if now > last * 0.99:
            return now
        last = now
    return last


async def stall(gateway, backend, count):
    """Memory while so many clients have sent a quarter of their bodies and nothing more."""
    head = f"POST /passed HTTP/1.1\r\nHost: test\r\nContent-Length: {BODY_BYTES}\r\n\r\n".encode()
    opened = [await asyncio.open_connection("127.0.0.1", gateway.port) for _ in range(count)]

    async def send(writer):
        writer.write(head)
        writer.write(b"x" * STALLED_BYTES)
        await writer.drain()

    def all_came():
        for _ in range(count):
            backend.line()

    sending = asyncio.gather(*(send(writer) for _, writer in opened))
    await asyncio.to_thread(all_came)
    await sending
    await asyncio.sleep(1)
    held = gateway.memory_kib()
    for _, writer in opened:
        writer.close()
    await asyncio.gather(*(writer.wait_closed() for _, writer in opened), return_exceptions=True)
    return held


def stalled(world, long):
    """Clients that send 256 KiB of 1 MiB and stall: a wave of them, and another, which is measured."""
    count = 2560 if long else 400
    backend = world.backend("sink")
    gateway = world.gateway(route(backend.port))
    asyncio.run(ask(gateway.port, request("POST", "/passed", b"x")))
    fresh = gateway.memory_kib()
    asyncio.run(stall(gateway, backend, count))
    before = settled_kib(gateway)
    held = asyncio.run(stall(gateway, backend, count))
    after = settled_kib(gateway)
    each, growth = (held - before) / count, GROWTH_MAX["long" if long else "short"]
    yield Row(
        f"{count:,} clients send 256 KiB of 1 MiB and stall",
        "<= 16 KiB a connection",
        f"{each:.1f} KiB a connection ({before / 1024:.1f} MiB before, {held / 1024:.1f} MiB then)",
        each <= KIB_PER_CONNECTION_MAX,
    )
    yield Row(
        "memory after they have gone",
        f"within {100 * growth:.0f} % of what it was before: after an earlier wave of as many",
        f"{after / 1024:.1f} MiB, {100 * (after / before - 1):+.0f} % ({fresh / 1024:.1f} MiB before the first wave)",
        after <= (1 + growth) * before,
    )


async def trickle(port, beginning, byte):
    """Sends a byte every 100 ms until the gateway ends the connection: what it says, and when."""
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(beginning)
    answer = asyncio.ensure_future(reader.read())
    while not answer.done() and time.monotonic() - began < GUARD_SECONDS:
        await asyncio.wait([answer], timeout=0.1)
        if not answer.done():
            writer.write(byte)
    took = time.monotonic() - began
    writer.close()
    text = (await answer).decode("latin-1")
    return (int(text.split()[1]) if text else None), took


async def read_nothing(gateway, path):
    """Asks for a long answer and reads nothing of it: when it is given up, and how many bytes of it came at last."""
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.setblocking(False)
    loop = asyncio.get_running_loop()
    began = time.monotonic()
    await loop.sock_connect(plain, ("127.0.0.1", gateway.port))
    await loop.sock_sendall(plain, request("GET", path))
    sample = 'tollgate_connections_closed_total{cause="write-stall"}'
    while time.monotonic() - began < GUARD_SECONDS:
        await asyncio.sleep(0.1)
        if (await asyncio.to_thread(lambda: total(metrics(gateway), sample))) > 0:
            break
    took = time.monotonic() - began
    came = 0
    try:
        while part := await loop.sock_recv(plain, 65536):
            came += len(part)
    except ConnectionError:
        pass
    plain.close()
    return came, took


def total(samples, name):
    """A sample over all listeners: whatever labels it has besides."""
    family, wanted = re.match(r"(\w+)\{(.*)\}", name).groups()
    return sum(value for sample, value in samples.items() if sample.startswith(family + "{") and wanted in sample)


def slow(world, long):
    """A slow head, a slow body and a client that reads nothing, at the same time."""
    limits = {"header": 10.0, "body": 10.0, "reader": 30.0} if long else {"header": 2.0, "body": 10.0, "reader": 2.0}
    echo = world.service("echo")
    table = f"[limits]\nheader_ms_max = {limits['header'] * 1000:.0f}\nstall_ms_max = {limits['reader'] * 1000:.0f}\n"
    long_answer, back = 'to = "/echo?bytes=33554432"', '[[route]]\npath = "/back"\nendpoint = "backend"\nto = "/echo"\n'
    gateway = world.gateway(table + route(echo.port, route=long_answer) + back)

    async def all_of_them():
        head = trickle(gateway.port, b"GET /passed HTTP/1.1\r\nHost: test\r\nX: ", b"x")
        body = trickle(gateway.port, b"POST /back HTTP/1.1\r\nHost: test\r\nContent-Length: 100000\r\n\r\n", b"x")
        return await asyncio.gather(head, body, read_nothing(gateway, "/passed"))

    (head, head_seconds), (body, body_seconds), (came, reader_seconds) = asyncio.run(all_of_them())
    # The engine's time is as coarse as a quarter of a second, and the machine may be busy: the short form runs on any.
    late_most = 1.5 if long else 15
    in_time = lambda took, limit: limit - 0.3 <= took <= limit + late_most
    for what, status, took, limit in [("head", head, head_seconds, "header"), ("body", body, body_seconds, "body")]:
        yield Row(
            f"a {what} of ten bytes a second",
            f"408 after {limits[limit]:.0f} s",
            f"{status} after {took:.1f} s",
            status == 408 and in_time(took, limits[limit]),
        )
    yield Row(
        "a client that reads nothing of 32 MiB",
        f"given up after {limits['reader']:.0f} s",
        f"given up after {reader_seconds:.1f} s; {came / 1024:.0f} KiB came",
        came < 33_554_432 and in_time(reader_seconds, limits["reader"]),
    )
    status, _, _ = asyncio.run(ask(gateway.port, request("POST", "/back", b"x")))
    yield Row("a request behind them", "200", str(status), status == 200)


def shapes():
    """Requests that two readers could take for different ones: status, what it is, bytes."""
    for line in (TESTS / "ambiguous.txt").read_text().splitlines():
        if not line.startswith("#"):
            status, what, text = line.split(" | ", 2)
            meant = {"r": b"\r", "n": b"\n", "t": b"\t"}
            pieces = re.findall(r"\\x[0-9a-f]{2}|\\.|[^\\]+", text)
            yield int(status), what, b"".join(
                bytes.fromhex(piece[2:]) if piece.startswith("\\x") else meant[piece[1]] if piece[0] == "\\" else piece.encode()
                for piece in pieces
            )


async def send_shapes(world):
    """How many were refused as they must be, those that were not, and what reached the backend."""
    recorded = bytearray()

    async def record(reader, writer):
        while part := await reader.read(65536):
            recorded.extend(part)
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    backend = await asyncio.start_server(record, "127.0.0.1", 0)
    gateway = await asyncio.to_thread(world.gateway, route(backend.sockets[0].getsockname()[1]))
    refused, wrong = 0, []
    for status, what, shape in shapes():
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(shape + request("GET", "/passed/smuggled"))
        text = (await asyncio.wait_for(reader.read(), GUARD_SECONDS)).decode("latin-1")
        writer.close()
        alone = text.startswith(f"HTTP/1.1 {status} ") and text.count("HTTP/1.1 ") == 1 and "connection: close" in text.lower()
        refused += alone
        if not alone:
            wrong.append(what)
    silent = len(recorded)
    # That it would have been recorded.
    status, _, _ = await ask(gateway.port, request("GET", "/passed/last"))
    heard = status == 204 and b"/passed/last" in recorded
    await asyncio.to_thread(gateway.stop)
    backend.close()
    await backend.wait_closed()
    return refused, wrong, silent, heard


def framing(world, long):
    """Ambiguous framing, before a backend that records each byte."""
    refused, wrong, silent, heard = asyncio.run(send_shapes(world))
    yield Row(
        f"{refused + len(wrong)} requests that two readers could take for different ones, another behind each",
        "each refused (400; 501 for a coding that is not supported) and closed, 0 bytes at the backend",
        f"{refused} refused, {silent} bytes at the backend" + (f"; not refused: {', '.join(wrong)}" if wrong else ""),
        not wrong and silent == 0 and heard,
    )

"""Backends that die, close connections and come back; configurations that are replaced; a gateway that is told to end."""
import asyncio
import collections
import itertools
import signal
import threading
import time

from gateway import GUARD_SECONDS, ask, read_answer, request, route
from table import Row

GET = request("GET", "/passed")
# The short form runs on whatever machine there is, with whatever else it does: a second is for the long one to hold.
BACK_SECONDS_MAX = {"long": 1.0, "short": 5.0}


def trials_most(seconds):
    """How many requests may try a suspended place in that time: three until it is suspended, then after 0.25, 0.5, 1, 1 … s."""
    return 3 + 2 + seconds


def wait_until_all_wait(backend, count):
    while backend.line() != f"waiting {count}":
        pass


async def in_flight(port, count, backend, then):
    """Statuses of `count` requests that wait at the backend while `then` is done, and how long after it the last came."""
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(count)]
    for _, writer in opened:
        writer.write(GET)
    await asyncio.to_thread(wait_until_all_wait, backend, count)
    began = time.monotonic()
    await asyncio.to_thread(then)
    answers = await asyncio.gather(
        *(asyncio.wait_for(read_answer(reader), GUARD_SECONDS) for reader, _ in opened), return_exceptions=True
    )
    took = time.monotonic() - began
    for _, writer in opened:
        writer.close()
    kinds = (answer[0] if isinstance(answer, tuple) else type(answer).__name__ for answer in answers)
    return collections.Counter(kinds), took


def told(statuses):
    return ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items(), key=str)) or "none"


def killed(world, long):
    """A backend is killed with 100 in flight, is away, and comes back."""
    count, times = 100, 10 if long else 2
    in_flights, away, back_seconds, without_hint, slowest = collections.Counter(), collections.Counter(), [], 0, 0.0
    trials_may = 0.0
    for _ in range(times):
        backend = world.backend("hold")
        gateway = world.gateway(route(backend.port))
        statuses, took = asyncio.run(in_flight(gateway.port, count, backend, lambda: backend.signal(signal.SIGKILL)))
        in_flights += statuses
        slowest = max(slowest, took)
        backend.process.wait()
        gone = time.monotonic()
        while time.monotonic() < gone + (3 if long else 1.5):
            status, fields, _ = asyncio.run(ask(gateway.port, GET))
            away[status] += 1
            without_hint += status == 503 and "retry-after" not in fields
            time.sleep(0.02)
        trials_may += trials_most(time.monotonic() - gone)
        world.service("echo", backend.port)
        returned = time.monotonic()
        while asyncio.run(ask(gateway.port, request("GET", "/passed")))[0] in (502, 503):
            time.sleep(0.005)
        back_seconds.append(time.monotonic() - returned)
        for server in (gateway, world.servers[-1]):
            server.stop()
    yield Row(
        f"{times} times a backend is killed with {count} in flight",
        f"{count * times} x 502, none hangs",
        f"{told(in_flights)}; the last after {slowest:.2f} s",
        in_flights == {502: count * times},
    )
    tries = away.get(502, 0)
    yield Row(
        "while it is away, a request every 20 ms",
        "503 with Retry-After, 502 for those that try",
        f"{told(away)}; {without_hint} x 503 without Retry-After",
        set(away) <= {502, 503} and without_hint == 0 and tries <= trials_may,
    )
    worst, bound = max(back_seconds), BACK_SECONDS_MAX["long" if long else "short"]
    yield Row("back in use after its return", f"<= {bound:.0f} s", f"{worst:.2f} s at most of {times}", worst <= bound)


def stale(world, long):
    """A backend closes connections at random between two answers."""
    count = 10_000 if long else 2_000
    body = world.folder / "body"
    body.write_text("x" * 100)
    for what, flags, retry in [
        ("GET", [], ""),
        ("PUT", ["-u", body], ""),
        ("POST with retry = \"always\"", ["-p", body], 'retry = "always"'),
    ]:
        backend = world.backend("restless")
        gateway = world.gateway(route(backend.port, route=retry))
        found = world.load(f"http://127.0.0.1:{gateway.port}/passed", "-n", count, "-c", 20, *flags)
        yield Row(
            f"{count:,} x {what}, connections closed at random",
            "0 errors",
            f"{sum(found['errors'].values())} errors, {found['requests']:,} answered",
            not found["errors"] and found["requests"] == count,
        )


def reload(world, long):
    """SIGHUP again and again under load; every third configuration is broken."""
    seconds = 10 if long else 3
    echo = world.service("echo")
    texts = [
        route(echo.port, route='to = "/echo?bytes=1024"'),
        # Other connections, and another endpoint under another name.
        route(echo.port, route='to = "/echo?bytes=1024"', endpoint="age_ms_max = 5000").replace('"backend"', '"other"'),
    ]
    gateway = world.gateway(texts[0])
    done = threading.Event()
    sent = collections.Counter()

    def replace():
        for number in itertools.count(1):
            if done.wait(0.5):
                return
            broken = number % 3 == 0
            text = texts[0] + "\nwrong = 1\n" if broken else texts[number % 2]
            (world.folder / "gateway.toml").write_text(text)
            gateway.signal(signal.SIGHUP)
            sent["broken" if broken else "whole"] += 1

    thread = threading.Thread(target=replace)
    thread.start()
    found = world.load(f"http://127.0.0.1:{gateway.port}/passed", "-t", seconds, "-c", 20)
    done.set()
    thread.join()
    failed = sum(found["errors"].values())
    yield Row(
        f"SIGHUP every 0.5 s for {seconds} s under load",
        "0 failed",
        f"{failed} of {found['requests'] + failed:,} failed; {sent['whole']} configurations, {sent['broken']} broken ones",
        failed == 0 and found["requests"] > 0,
    )


def drain(world, long):
    """SIGTERM while 200 wait at the backend."""
    count = 200
    backend = world.backend("hold")
    gateway = world.gateway(route(backend.port))

    def end():
        gateway.signal(signal.SIGTERM)
        time.sleep(0.5)
        backend.signal(signal.SIGUSR1)

    statuses, took = asyncio.run(in_flight(gateway.port, count, backend, end))
    code = gateway.process.wait(GUARD_SECONDS)
    yield Row(
        f"SIGTERM with {count} in flight",
        f"{count} x 200, exit code 0",
        f"{told(statuses)}, exit code {code}; the last after {took:.2f} s, of which it was held 0.5 s",
        statuses == {200: count} and code == 0,
    )

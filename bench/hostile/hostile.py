#!/usr/bin/env python3
"""Eight kinds of hostile clients and wrong passwords against a gateway, and what honest clients see meanwhile.

A thousand attackers have an address each (127.1.0.0/16), and so has each honest client (127.3.0.0/16): the gateway tells them
apart as it would on a network. Counts and times are bounded. Attackers run at a low priority, as they would have machines of
their own. Told at the end, and written as JSON with --json:

- the highest resident memory of the gateway, and what it is 10 s after the attack, beside what it was before;
- the times of honest requests, each on a new connection, calm and under attack (p50, p99);
- how many of the honest users who never signed in before succeeded, each with the right password.

Exit code 1 if a bound does not hold: memory at most --memory-mib, back within 10 % (or 8 MiB) of its highest calm value, honest
p99 at most twice the calm one or 20 ms, and 95 % of newcomers let in.

    python3 bench/hostile/hostile.py --binary target/release/tollgate [--connections 10000] [--passwords 10000] [--seconds 60]
"""
import argparse
import base64
import json
import multiprocessing
import os
import pathlib
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

KINDS = ["slow heads", "slow bodies", "slow readers", "idle", "floods", "wrong passwords", "giant expansions", "giant batches"]
EXPANSION = "/odata/v4/flights/CarrierCollection?$expand=carrierFlights($expand=flightBookings($expand=bookedFlight))"
CHEAP = "/rest/carriers/AA"
ATTACKERS = 1000
NEWCOMERS = 60
READERS = 40
ASKED_CALM = 400
TRIES_S = 20.0
SETTLED_S = 10.0


def address(network, number):
    return f"127.{network}.{number // 250 % 250}.{number % 250 + 1}"


def connect(port, source, timeout=10.0):
    client = socket.socket()
    client.settimeout(timeout)
    client.bind((source, 0))
    client.connect(("127.0.0.1", port))
    return client


def basic(name, password):
    return "Authorization: Basic " + base64.b64encode(f"{name}:{password}".encode()).decode() + "\r\n"


def get(port, source, target, fields="", timeout=10.0):
    """The status of an answer on a connection of its own, and its time; 0 where there is none."""
    began = time.perf_counter()
    try:
        with connect(port, source, timeout) as client:
            client.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}\r\n".encode())
            answer = b""
            while piece := client.recv(65536):
                answer += piece
    except OSError:
        return 0, time.perf_counter() - began
    status = int(answer[9:12]) if answer[:5] == b"HTTP/" else 0
    return status, time.perf_counter() - began


def attack(kind, port, first, count, until, told):
    """Keeps `count` connections of one kind busy until then, each with an address of its own; asks again when cut off."""
    os.nice(15)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    opening = {
        "slow heads": b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ",
        "slow bodies": b"POST /rest/bookings HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 500000\r\n\r\n{",
        "slow readers": f"GET {EXPANSION} HTTP/1.1\r\nHost: a\r\n\r\n".encode(),
        "idle": b"",
        "floods": f"GET {CHEAP} HTTP/1.1\r\nHost: a\r\n\r\n".encode() * 8,
        "giant expansions": f"GET {EXPANSION} HTTP/1.1\r\nHost: a\r\n\r\n".encode(),
        "giant batches": giant_batch(),
    }
    trickle = {"slow heads": b"a", "slow bodies": b" "}
    clients, next_try, requests, number = {}, time.monotonic(), 0, first
    poll = select.epoll()
    trickled = time.monotonic()
    while time.monotonic() < until:
        for _ in range(50):
            if len(clients) >= count or time.monotonic() < next_try:
                break
            try:
                client = socket.socket()
                if kind == "slow readers":
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.settimeout(2.0)
                client.bind((address(1, number % ATTACKERS), 0))
                client.connect(("127.0.0.1", port))
                client.setblocking(False)
                sent = password_guess(number, requests) if kind == "wrong passwords" else opening[kind]
                requests += 1
                if sent:
                    client.send(sent)
            except OSError:
                next_try = time.monotonic() + 0.05
                continue
            number = first + (number - first + 1) % count
            clients[client.fileno()] = client
            if kind != "slow readers":
                poll.register(client.fileno(), select.EPOLLIN | select.EPOLLRDHUP)
        for fileno, _ in poll.poll(0.05, 256):
            client = clients[fileno]
            try:
                piece = client.recv(262144)
                if piece and kind in ("floods", "giant expansions"):
                    client.send(opening[kind])
                    requests += 1
                    continue
                if piece and kind not in ("wrong passwords", "giant batches"):
                    continue
            except BlockingIOError:
                continue
            except OSError:
                pass
            poll.unregister(fileno)
            clients.pop(fileno).close()
        if kind in trickle and time.monotonic() - trickled > 1.0:
            trickled = time.monotonic()
            for fileno, client in list(clients.items()):
                try:
                    client.send(trickle[kind])
                except OSError:
                    pass
    for client in clients.values():
        client.close()
    told.put((kind, requests))


def giant_batch():
    one = '{"id":"%d","method":"GET","url":"CarrierCollection?$expand=carrierFlights"}'
    body = '{"requests":[' + ",".join(one % number for number in range(2000)) + "]}"
    head = "POST /odata/v4/flights/$batch HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def password_guess(number, requests):
    return f"GET {CHEAP} HTTP/1.1\r\nHost: a\r\n{basic('user0', f'wrong{number}-{requests}')}\r\n".encode()


def resident_mib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1)) / 1024


def share(times, at):
    return sorted(times)[min(len(times) - 1, int(len(times) * at))] * 1e3


def honest(port, until, asked):
    """Requests of honest clients, one after the other, each on a new connection of an address of its own."""
    times, failed, number = [], 0, 0
    while len(times) + failed < asked and time.monotonic() < until:
        status, took = get(port, address(3, number), CHEAP)
        if status == 200:
            times.append(took)
        else:
            failed += 1
        number += 1
        time.sleep(0.01)
    return times, failed


def newcomers(port, users, until):
    """Users who sign in for the first time, one after the other, each from an address of its own; how many were let in."""
    answers = []

    def sign_in(number, user):
        answers.append(get(port, address(3, 30000 + number), "/rest/carriers/LH", basic(user, "right"), TRIES_S))

    pause = max(0.0, until - time.monotonic()) / len(users)
    threads = [threading.Thread(target=sign_in, args=each) for each in enumerate(users)]
    for thread in threads:
        thread.start()
        time.sleep(pause)
    for thread in threads:
        thread.join()
    return sum(status == 200 for status, _ in answers), len(answers), [took for _, took in answers]


def warm_up(port):
    """Has every work process read: the database keeps pages for each of them, which is no memory of an attack."""
    threads = [threading.Thread(target=get, args=(port, address(3, number), EXPANSION, "", 60.0)) for number in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def serve(binary, folder, users, extra):
    users_file = folder / "users"
    with open(users_file, "w") as file:
        for user in users:
            made = subprocess.run([binary, "password", user], input="right\n", text=True, capture_output=True, check=True)
            file.write(made.stdout)
    config = folder / "gateway.toml"
    service = f'[[service]]\nkind = "flights"\ndatabase = "sqlite:{folder}/flights.db"\n'
    config.write_text(f'[users]\nfile = "{users_file}"\n[[rule]]\nallow = ["anyone"]\n{service}{extra}')
    gateway = subprocess.Popen(
        [binary, "serve", str(config), "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=open(folder / "log", "w"), text=True
    )
    port = None
    for line in gateway.stdout:
        if found := re.match(r"listening .*:(\d+)", line):
            port = int(found.group(1))
            break
    return gateway, port


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--connections", type=int, default=10_000, help="hostile connections of all kinds together (10000)")
    parser.add_argument("--seconds", type=float, default=60.0, help="length of the attack (60)")
    parser.add_argument("--only", action="append", help="these kinds alone; may be said again")
    parser.add_argument("--memory-mib", type=float, default=512.0, help="bound of the gateway's resident memory (512)")
    parser.add_argument("--config", default="", help="more configuration")
    parser.add_argument("--no-times", action="store_true", help="leave out what depends on how fast the machine is: the bounds of honest clients")
    parser.add_argument("--json", help="file for the figures")
    arguments = parser.parse_args()
    kinds = arguments.only or KINDS
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    users = [f"user{number}" for number in range(NEWCOMERS + 1)]
    told, broken = {}, []
    with tempfile.TemporaryDirectory() as name:
        gateway, port = serve(arguments.binary, pathlib.Path(name), users, arguments.config)
        try:
            calm, _ = honest(port, time.monotonic() + 60, ASKED_CALM)
            warm_up(port)
            time.sleep(SETTLED_S)
            before = resident_mib(gateway.pid)
            told["calm"] = {"rss_mib": round(before, 1), "p50_ms": round(share(calm, 0.5), 2), "p99_ms": round(share(calm, 0.99), 2)}
            until = time.monotonic() + arguments.seconds
            queue = multiprocessing.Queue()
            each = max(1, arguments.connections // len(kinds))
            attackers = [
                multiprocessing.Process(target=attack, args=(kind, port, index * each, each, until, queue)) for index, kind in enumerate(kinds)
            ]
            for attacker in attackers:
                attacker.start()
            signing = multiprocessing.Process(
                target=lambda: queue.put(("newcomers", newcomers(port, users[1:], until))))
            asking = multiprocessing.Process(target=lambda: queue.put(("honest", honest(port, until, 1_000_000))))
            time.sleep(min(5.0, arguments.seconds / 4))
            for client in (signing, asking):
                client.start()
            peak = before
            found = {}
            while len(found) < len(kinds) + 2:
                if gateway.poll() is not None:
                    sys.exit(f"the gateway ended with {gateway.returncode}: {(pathlib.Path(name) / 'log').read_text()[-2000:]}")
                peak = max(peak, resident_mib(gateway.pid))
                try:
                    what, result = queue.get(timeout=0.1)
                    found[what] = result
                except Exception:
                    pass
                if time.monotonic() > until + 60:
                    sys.exit(f"no end: {sorted(found)}")
            for process in [*attackers, signing, asking]:
                process.join()
            time.sleep(SETTLED_S)
            after = resident_mib(gateway.pid)
            (times, failed), (let_in, tried, signing_times) = found.pop("honest"), found.pop("newcomers")
            told["attack"] = {"rss_mib_most": round(peak, 1), "requests": found}
            told["after"] = {"rss_mib": round(after, 1)}
            told["honest"] = {"answered": len(times), "failed": failed}
            if times:
                told["honest"] |= {"p50_ms": round(share(times, 0.5), 2), "p99_ms": round(share(times, 0.99), 2)}
            told["newcomers"] = {"let_in": let_in, "tried": tried, "p50_ms": round(share(signing_times, 0.5), 1), "most_ms": round(max(signing_times) * 1e3, 1)}
            if peak > arguments.memory_mib:
                broken.append(f"{peak:.0f} MiB of memory, allowed {arguments.memory_mib:.0f}")
            if after > max(before * 1.1, before + 8):
                broken.append(f"{after:.0f} MiB of memory {SETTLED_S:.0f} s later, {before:.0f} before")
            if not arguments.no_times and (tried == 0 or let_in < tried * 0.95):
                broken.append(f"{let_in} of {tried} newcomers let in")
            if not arguments.no_times and failed > (len(times) + failed) * 0.05:
                broken.append(f"{failed} of {len(times) + failed} honest requests failed")
            limit_ms = max(2 * told["calm"]["p99_ms"], 20.0)
            if not arguments.no_times and (not times or told["honest"]["p99_ms"] > limit_ms):
                broken.append(f"honest p99 {told['honest'].get('p99_ms')} ms, allowed {limit_ms:.1f}")
        finally:
            gateway.terminate()
            gateway.wait()
    told["broken"] = broken
    print(json.dumps(told, indent=1))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(told, indent=1) + "\n")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()

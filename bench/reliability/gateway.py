"""Processes under test, what they cost, and an HTTP client that is as small as can be. Loopback only."""
import asyncio
import glob
import json
import pathlib
import re
import resource
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TESTS = ROOT / "crates/tollgate-gateway/src/tests/proxy"
# Longer than anything should take: a guard against hanging, not a bound.
GUARD_SECONDS = 60


def raise_file_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class Server:
    """A process that says in its first lines where it listens."""

    def __init__(self, command, log=None):
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=log, text=True)
        self.pid = self.process.pid
        self.port = self.admin = None
        for line in self.process.stdout:
            word, url = line.split()[:2]
            port = int(url.rstrip("/").rsplit(":", 1)[1])
            if word == "listening":
                self.port = port
            else:
                self.admin = port
            if self.port and (self.admin or "serve" not in command):
                break
        if not self.port:
            sys.exit(f"{command[0]} did not start")

    def line(self):
        return self.process.stdout.readline().strip()

    def signal(self, number):
        self.process.send_signal(number)

    def cpu_ns(self):
        """User and system time of all its threads."""
        return sum(int(pathlib.Path(path).read_text().split()[0]) for path in glob.glob(f"/proc/{self.pid}/task/*/schedstat"))

    def memory_kib(self, name="VmRSS"):
        return int(re.search(rf"{name}:\s+(\d+)", pathlib.Path(f"/proc/{self.pid}/status").read_text()).group(1))

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(GUARD_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class World:
    """What one part starts, and stops again behind it."""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.servers = binary, folder, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in reversed(self.servers):
            server.stop()

    def keep(self, server):
        self.servers.append(server)
        return server

    def gateway(self, text):
        """The gateway with this configuration."""
        file = self.folder / "gateway.toml"
        file.write_text(text)
        log = open(self.folder / "gateway.log", "a")
        return self.keep(Server([self.binary, "serve", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"], log))

    def service(self, name, port=0):
        """One of the built-in services."""
        command = [self.binary, "serve", "--service", name, "--listen", f"127.0.0.1:{port}", "--admin", "127.0.0.1:0"]
        return self.keep(Server(command))

    def backend(self, kind, port=0):
        """One of those in backend.py."""
        return self.keep(Server([sys.executable, HERE / "backend.py", kind, port]))

    def load(self, url, *flags):
        """What `tollgate load` found."""
        out = subprocess.run([self.binary, "load", "--json", "-k", *map(str, flags), url], capture_output=True, text=True)
        if not out.stdout:
            sys.exit(f"tollgate load {url}: {out.stderr}")
        return json.loads(out.stdout)


def route(port, path="/passed", route="", endpoint=""):
    """A configuration that passes requests on."""
    return (
        f'[[endpoint]]\nname = "backend"\nurls = ["http://127.0.0.1:{port}"]\n{endpoint}\n'
        f'[[route]]\npath = "{path}"\nendpoint = "backend"\n{route}\n'
    )


def request(method, path, body=b"", fields=()):
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def read_answer(reader):
    """Status, fields by their name in small letters, and body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    status = int(head[0].split()[1])
    return status, fields, await reader.readexactly(int(fields.get("content-length", 0)))


async def ask(port, message):
    """One request over a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(message)
        return await asyncio.wait_for(read_answer(reader), GUARD_SECONDS)
    finally:
        writer.close()


def metrics(server):
    """The gateway's metrics by sample."""
    _, _, text = asyncio.run(ask(server.admin, request("GET", "/metrics")))
    samples = (line.rsplit(" ", 1) for line in text.decode().splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in samples}

"""Backends that do what backends should not: `backend.py KIND PORT`.

  hold      answers nobody until SIGUSR1, and says each time how many wait
  restless  closes connections at random between two answers: at once, a little later, or when it is asked again
  sink      reads bodies whole, and says every 256 KiB of one body that came
"""
import asyncio
import random
import signal
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok"
SAID_EVERY_BYTES = 256 * 1024


def say(text):
    print(text, flush=True)


async def read_head(reader):
    """Bytes of the body that follows; `None` at the end of the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    for line in head.decode("latin-1").lower().split("\r\n"):
        if line.startswith("content-length:"):
            return int(line.split(":")[1])
    return 0


class Hold:
    def __init__(self):
        self.waiting, self.may_answer = 0, asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self.may_answer.set)

    async def serve(self, reader, writer):
        while (length := await read_head(reader)) is not None:
            await reader.readexactly(length)
            self.waiting += 1
            say(f"waiting {self.waiting}")
            await self.may_answer.wait()
            writer.write(ANSWER)


class Restless:
    async def serve(self, reader, writer):
        for _ in range(random.randint(1, 40)):
            length = await read_head(reader)
            if length is None:
                return
            await reader.readexactly(length)
            writer.write(ANSWER)
            await writer.drain()
        way = random.randrange(3)
        if way == 1:
            await asyncio.sleep(random.uniform(0, 0.005))
        elif way == 2:
            await reader.read(1)


class Sink:
    async def serve(self, reader, writer):
        while (length := await read_head(reader)) is not None:
            came = 0
            while came < length:
                part = await reader.read(min(SAID_EVERY_BYTES - came % SAID_EVERY_BYTES, length - came))
                if not part:
                    return
                came += len(part)
                if came % SAID_EVERY_BYTES == 0:
                    say("came")
            writer.write(ANSWER)


async def main(kind, port):
    backend = {"hold": Hold, "restless": Restless, "sink": Sink}[kind]()

    async def serve(reader, writer):
        try:
            await backend.serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=4096)
    say(f"listening http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    await ended.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))

"""Messages of XML that mean harm, and more messages than can be transformed."""
import asyncio
import collections
import re
import shutil
import statistics

from gateway import TESTS, metrics, request, route
from table import Row

# The short form runs beside others, and in the CI on a program that is hardly optimized: it finds what has no bound.
CPU_MS_MAX = {"long": 10, "short": 100}
MEMORY_MIB_MAX = 8
# Of goodput under overload, by the peak. The short form finds collapses, not percents.
GOODPUT_MIN = {"long": 0.9, "short": 0.3}
QUEUE_MAX = 8
XML = ["Content-Type: text/xml"]


def billion_laughs():
    entities = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 10))
    return f'<!DOCTYPE a [<!ENTITY l0 "lol">{entities}]><a>&l9;</a>'


def hostile_messages(port):
    """Route, what it is, and the message; `port` belongs to somebody who notes who comes."""
    deep = "<a>" * 100_000 + "</a>" * 100_000
    attributes = "".join(f' a{number}=""' for number in range(50_000))
    prefixes = "".join(f' xmlns:p{number}="urn:{number}"' for number in range(20_000))
    documents = {
        "billion laughs": billion_laughs(),
        "an external entity, file": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        "an external entity, http": f'<!DOCTYPE a [<!ENTITY x SYSTEM "http://127.0.0.1:{port}/">]><a>&x;</a>',
        "100,000 elements in each other": deep,
        "50,000 attributes": f"<a{attributes}/>",
        "20,000 prefixes, then broken": f"<a{prefixes}></b>",
    }
    for what, document in documents.items():
        yield "/transformed", what, document
        yield "/routed", what, document
    for name in ["endless", "writing", "doubling"]:
        yield "/transformed", f"a template without end ({name})", f"<{name}/>"


async def cost(gateway, path, message):
    """Status, CPU in milliseconds and memory in MiB of one message, and the text of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    gateway.forget_peak()
    memory, cpu = gateway.memory_kib(), gateway.cpu_ns()
    writer.write(request("POST", path, message.encode(), XML))
    text = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
    spent, grown = (gateway.cpu_ns() - cpu) / 1e6, (gateway.memory_kib("VmHWM") - memory) / 1024
    length = re.search(rb"Content-Length: (\d+)", text)
    text += await reader.readexactly(int(length.group(1)))
    writer.close()
    return int(text.split()[1]), spent, grown, text


async def hostile_all(world, times):
    """What each message cost, and how often somebody came where the messages point."""
    visits = collections.Counter()

    async def note(reader, writer):
        visits["elsewhere"] += 1
        writer.close()

    async def serve(reader, writer):
        visits["backend"] += 1
        writer.close()

    elsewhere = await asyncio.start_server(note, "127.0.0.1", 0)
    backend = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = backend.sockets[0].getsockname()[1]
    shutil.copy(TESTS / "stylesheets/hostile.xsl", world.folder)
    text = route(port, "/transformed", 'request = [{ xslt = "hostile.xsl" }]')
    condition = "count(//symbol) = 2"
    text += f'[[route]]\npath = "/routed"\nendpoint = "backend"\nrequest = [{{ choose = [{{ xpath = "{condition}", then = [] }}] }}]\n'
    found = []
    for path, what, message in hostile_messages(elsewhere.sockets[0].getsockname()[1]):
        # A gateway of its own: nothing lies ready from the message before.
        gateway = await asyncio.to_thread(world.gateway, text)
        each = [await cost(gateway, path, message) for _ in range(times)]
        await asyncio.to_thread(gateway.stop)
        leaked = any(b"root:" in text for *_, text in each)
        found.append((path, what, len(message), each, leaked))
    elsewhere.close()
    backend.close()
    return found, visits


def hostile(world, long):
    """Messages that grow, point elsewhere, are too deep, or are transformed without end."""
    found, visits = asyncio.run(hostile_all(world, 7 if long else 3))
    cpu_ms_max = CPU_MS_MAX["long" if long else "short"]
    for path, what, size, each, leaked in found:
        statuses = sorted({status for status, *_ in each})
        cpu, memory = statistics.median(spent for _, spent, *_ in each), max(grown for _, _, grown, _ in each)
        largest = max(spent for _, spent, *_ in each)
        yield Row(
            f"{what}, {max(1, size // 1024):,} KiB, {path[1:]}",
            f"refused, <= {cpu_ms_max} ms of CPU, <= {MEMORY_MIB_MAX} MiB",
            f"{', '.join(map(str, statuses))}; {cpu:.2f} ms (median of {len(each)}; {largest:.2f} at most), {memory:.1f} MiB",
            all(400 <= status < 600 for status in statuses) and cpu <= cpu_ms_max and memory <= MEMORY_MIB_MAX and not leaked,
        )
    yield Row(
        "where these messages point, and the backend behind the routes",
        "nobody comes",
        f"{visits['elsewhere']} came there, {visits['backend']} to the backend",
        not visits,
    )


def overload(world, long):
    """Twice as many messages as the work processes can transform."""
    seconds, rounds = (5, 5) if long else (1.5, 3)
    sink = world.service("echo")
    shutil.copy(TESTS / "stylesheets/hostile.xsl", world.folder)
    text = route(sink.port, "/transformation", 'to = "/echo?bytes=64"\nrequest = [{ xslt = "hostile.xsl" }]')
    text += f"[mediation.work_processes]\nlimit = 1\nqueue_max = {QUEUE_MAX}\n"
    gateway = world.gateway(text)
    body = world.folder / "message.xml"
    body.write_text("<orders>" + "<order><symbol>IBM</symbol><n>1</n></order>" * 3000 + "</orders>")
    url = f"http://127.0.0.1:{gateway.port}/transformation"
    flags = ["-p", body, "-T", "text/xml"]
    world.load(url, "-t", 1, "-c", 4, *flags)
    ratios, peaks, goodputs, lost, refused = [], [], [], 0, 0
    for _ in range(rounds):
        before = metrics(gateway)
        peak = world.load(url, "--duration", f"{seconds}s", "-c", 1 + QUEUE_MAX, *flags)["requests_per_second"]
        over = world.load(url, "--duration", f"{seconds}s", "-c", 200, "--rate", f"{2 * peak:.0f}/s", *flags)
        after = metrics(gateway)
        good = over["requests_per_second"]
        ratios.append(good / peak)
        peaks.append(peak)
        goodputs.append(good)
        refused += over["errors"].get("status-503", 0)
        lost += sum(count for kind, count in over["errors"].items() if kind != "status-503")
        counted = total_refused(after) - total_refused(before)
        lost += abs(int(counted) - over["errors"].get("status-503", 0))
    size = body.stat().st_size // 1024
    middle, least = statistics.median(ratios), GOODPUT_MIN["long" if long else "short"]
    yield Row(
        f"twice what one work process can transform, messages of {size} KiB",
        f"goodput >= {100 * least:.0f} % of the peak",
        f"{100 * middle:.0f} % (median of {rounds}, {100 * min(ratios):.0f} to {100 * max(ratios):.0f} %); "
        f"{statistics.median(goodputs):,.0f}/s of {statistics.median(peaks):,.0f}/s",
        middle >= least,
    )
    yield Row(
        "the requests beyond",
        "each answered 503, and counted by the gateway",
        f"{refused:,} x 503; {lost} otherwise, or not counted",
        lost == 0 and refused > 0,
    )


def total_refused(samples):
    return sum(value for name, value in samples.items() if name.startswith("tollgate_work_processes_refused_total") and '"mediation"' in name)

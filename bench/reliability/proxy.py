#!/usr/bin/env python3
"""Whether the proxy holds what is said of it: backends that die, connections that go stale, configurations that are
replaced, clients that stall, framing that is ambiguous, messages that mean harm, more load than there is room for.

Each part starts its own gateway and backends on loopback, does its harm, and holds what it finds against its bound. Prints
a table; exit code 1 where a bound is broken. The short form takes a minute, the full one some. Python 3 alone.

    cargo build --release && bench/reliability/proxy.py [PART …] [--long] [--markdown FILE]
"""
import argparse
import pathlib
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clients  # noqa: E402
import comings  # noqa: E402
import messages  # noqa: E402
import table  # noqa: E402
from gateway import ROOT, World, raise_file_limit  # noqa: E402

PARTS = [
    comings.killed,
    comings.stale,
    comings.reload,
    comings.drain,
    clients.stalled,
    clients.slow,
    clients.framing,
    messages.hostile,
    messages.overload,
]


def main():
    names = {part.__name__: part for part in PARTS}
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("parts", nargs="*", metavar="PART", help=", ".join(names))
    arguments.add_argument("--long", action="store_true", help="all of it; some minutes")
    arguments.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="write the table there too")
    arguments.add_argument("--binary", type=pathlib.Path, default=ROOT / "target/release/tollgate")
    arguments = arguments.parse_args()
    if unknown := set(arguments.parts) - set(names):
        arguments.error(f"expected {', '.join(names)}, found {', '.join(unknown)}")
    raise_file_limit()
    rows = []
    for name in arguments.parts or names:
        print(f"== {name}", flush=True)
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder, World(arguments.binary.resolve(), pathlib.Path(folder)) as world:
            for row in names[name](world, arguments.long):
                table.show(row)
                rows.append(row)
        print(f"   {time.monotonic() - began:.1f} s", flush=True)
    if arguments.markdown:
        arguments.markdown.write_text(table.markdown(rows))
    sys.exit(table.verdict(rows))


if __name__ == "__main__":
    main()

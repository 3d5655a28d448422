"""What was found, as a table for a terminal and as Markdown."""
import dataclasses
import sys


@dataclasses.dataclass
class Row:
    """One line: what was done, what must hold, and what was found."""

    what: str
    bound: str
    found: str
    holds: bool

    def cells(self):
        return [self.what, self.bound, self.found, "holds" if self.holds else "BROKEN"]


def show(row):
    print(f"{row.cells()[3]:6}  {row.what}\n        bound: {row.bound}\n        found: {row.found}", flush=True)


def markdown(rows):
    lines = ["| what | bound | found | verdict |", "|---|---|---|---|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row.cells()) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def verdict(rows):
    """The exit code, and a last line."""
    broken = sum(not row.holds for row in rows)
    print(f"{len(rows) - broken} of {len(rows)} hold", file=sys.stderr)
    return 1 if broken else 0

"""Prints what a peer costs by what tollgate costs, from one run in which both stood in the same blocks.

Usage: tollgate run bench/peers.toml --subjects cap,tollgate --out RUN && python3 bench/peers.py RUN

For each mode and number of records: CPU time and time for a record, and their ratio, peer by ours, block by block: the
geometric mean with Student's 95 % interval on the logarithms, as docs/method.md has it for tolls. It reads result.json
and measures nothing.
"""

import json
import math
import sys
from collections import defaultdict

# Student's t, 97.5 %, for 1 to 15 degrees of freedom; beyond that the normal is near enough for a table.
STUDENT = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13]


def by_block(trials, figure):
    blocks = defaultdict(list)
    for trial in trials:
        blocks[trial["block"]].append(figure(trial))
    return {block: sum(values) / len(values) for block, values in blocks.items()}


def ratio(theirs, ours):
    logs = [math.log(theirs[block] / ours[block]) for block in sorted(theirs.keys() & ours.keys())]
    if len(logs) < 2:
        return None
    mean = sum(logs) / len(logs)
    deviation = math.sqrt(sum((log - mean) ** 2 for log in logs) / (len(logs) - 1))
    half = (STUDENT[len(logs) - 2] if len(logs) - 2 < len(STUDENT) else 1.96) * deviation / math.sqrt(len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half), len(logs)


def main(folder):
    with open(f"{folder}/result.json", encoding="utf-8") as file:
        run = json.load(file)
    figures = {
        "CPU us": lambda trial: trial["subject_cpu_us"] / trial["records"],
        "time us": lambda trial: sum(trial["unit_times_ms"]) * 1e3 / trial["records"],
    }
    trials = defaultdict(list)
    for trial in run["trials"]:
        trials[trial["variant"], trial["level"]].append(trial)
    marks = defaultdict(set)
    for doubt in run["validity"]:
        if doubt["verdict"] != "ok":
            marks[doubt["variant"], doubt["level"]].add(doubt["rule"])
    print(f"{run['started']}, {run['machine']['cpu']}, {run['machine']['cores']} cores, tollgate {run['version']}\n")
    print("| mode | records | figure | peer | tollgate | peer / tollgate [95 %] | blocks | marks |")
    print("|---|---|---|---|---|---|---|---|")
    for variant in run["experiment"]["variants"]:
        if not variant.get("peer"):
            continue
        name = variant["name"].removeprefix(variant["peer"] + "-")
        for level in run["experiment"]["levels"]:
            theirs, ours = trials[variant["name"], level], trials[name, level]
            for figure, of in figures.items():
                if not theirs or not ours:
                    continue
                their_blocks, our_blocks = by_block(theirs, of), by_block(ours, of)
                found = ratio(their_blocks, our_blocks)
                if not found:
                    continue
                mean = lambda blocks: sum(blocks.values()) / len(blocks)
                seen = sorted(marks[variant["name"], level] | marks[name, level])
                print(
                    f"| {name} | {level} | {figure} | {mean(their_blocks):.3g} | {mean(our_blocks):.3g} "
                    f"| {found[0]:.3g} [{found[1]:.3g}, {found[2]:.3g}] | {found[3]} | {', '.join(seen)} |"
                )


if __name__ == "__main__":
    main(sys.argv[1])

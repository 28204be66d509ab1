#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the measured part of docs/evidence.md from what build/evidence and build/fuzz keep.

A part that was not measured here keeps what the page has.

usage: page.py [--sample 300] [--seed 1]
"""

import argparse
import datetime
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import mutants  # noqa: E402
import mutations as m  # noqa: E402

PAGE = m.ROOT / "docs" / "evidence.md"
COVERAGE = m.ROOT / "build" / "evidence" / "coverage.tsv"
HOURS = m.ROOT / "build" / "fuzz" / "hours.tsv"


def commit():
    told = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=m.ROOT, capture_output=True,
                          text=True)
    return told.stdout.strip() or "unknown"


def stamp(path=None):
    when = datetime.date.fromtimestamp(path.stat().st_mtime) if path else datetime.date.today()
    return f"Measured on {when.isoformat()}, at commit {commit()}."


def share(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def coverage_part():
    if not COVERAGE.exists():
        return None
    rows = [line.split("\t") for line in COVERAGE.read_text().splitlines()[1:]]
    numbers = {row[0]: list(map(int, row[1:])) for row in rows}
    total = [sum(row[i] for row in numbers.values()) for i in range(4)]
    out = [stamp(COVERAGE), "",
           f"**{share(*total[2:])} of {total[3]:,} branches and {share(*total[:2])} of "
           f"{total[1]:,} lines** of {len(numbers)} trusted files.", "",
           "| folder | lines | branches |", "|---|---|---|"]
    for folder in sorted({file.split("/")[0] for file in numbers}):
        of = [sum(row[i] for file, row in numbers.items() if file.startswith(folder + "/"))
              for i in range(4)]
        out.append(f"| {folder}/ | {share(*of[:2])} of {of[1]:,} | {share(*of[2:])} of {of[3]:,} |")
    out += ["", "| file | lines | branches |", "|---|---|---|"]
    for file, row in numbers.items():
        out.append(f"| `{file}` | {share(*row[:2])} of {row[1]} | {share(*row[2:])} of {row[3]} |")
    return "\n".join(out)


def cell(text):
    return "`" + text.replace("|", "\\|") + "`"


def mutants_part(size, seed):
    known = mutants.results()
    if not known:
        return None
    everything = m.all_mutations()
    order = m.drawn(everything, seed)
    told = mutants.summary(order, known, size)
    caught, survived, explained = (told[k] for k in ("caught", "survived", "explained"))
    judged = len(caught) + len(survived) + len(explained)
    if judged == 0:
        return None
    out = [stamp(mutants.RESULTS), "",
           f"Of {len(everything):,} faults, {judged} were drawn with seed {seed}, uniformly: "
           f"**{len(caught)} were caught, {share(len(caught), judged)}**; without the "
           f"{len(explained)} that can change no result, or only to the safe side, "
           f"**{share(len(caught), len(caught) + len(survived))}**."]
    if told["unknown"]:
        out += ["", f"{len(told['unknown'])} of the {size} drawn have not been run yet."]
    out += ["", "| folder | faults there are | drawn | caught | explained | survive |",
            "|---|---|---|---|---|---|"]
    for folder in sorted(mutants.STAGES):
        of = [sum(x.folder() == folder for x in kind)
              for kind in (everything, caught + survived + explained, caught, explained, survived)]
        out.append(f"| {folder}/ | {of[0]:,} | {of[1]} | {of[2]} | {of[3]} | {of[4]} |")
    if survived:
        out += ["", "These survive, and are not explained:", ""]
        out += [f"- `{x.file}`: {cell(x.text)}, {cell(x.change())}" for x in survived]
    if explained:
        reasons = mutants.explanations()
        out += ["", "These survive, for these reasons:", "", "| file | line | fault | why |",
                "|---|---|---|---|"]
        for x in explained:
            out.append(f"| `{x.file}` | {cell(x.text)} | {cell(x.change())} | "
                       f"{mutants.reason_of(x, reasons)} |")
    return "\n".join(out)


def fuzz_part():
    if not HOURS.exists():
        return None
    sums = {}
    for line in HOURS.read_text().splitlines()[1:]:
        date, _, target, seconds, runs, findings = line.split("\t")
        known = sums.setdefault(target, [date, date, 0, 0, 0])
        known[1] = date
        known[2] += int(seconds)
        known[3] += int(runs)
        known[4] += int(findings)
    if not sums:
        return None
    out = ["| target | CPU hours | inputs run | findings | from | to |", "|---|---|---|---|---|---|"]
    for target in sorted(sums):
        first, last, seconds, runs, findings = sums[target]
        out.append(f"| {target} | {seconds / 3600:.2f} | {runs:,} | {findings} | {first} | {last} |")
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    parts = {"coverage": coverage_part(), "mutants": mutants_part(arguments.sample, arguments.seed),
             "fuzz": fuzz_part()}
    for name, text in parts.items():
        if text is None:
            print(f"evidence: {name} was not measured here; the page keeps what it has")
            continue
        mark = f"<!-- measured: {name} (written by ./run evidence page) -->"
        if mark not in page:
            sys.exit(f"page.py: docs/evidence.md has no place for {name}")
        page = re.sub(re.escape(mark) + r".*?<!-- end -->",
                      lambda _, mark=mark, text=text: f"{mark}\n{text}\n<!-- end -->", page, count=1,
                      flags=re.DOTALL)
    PAGE.write_text(page, encoding="utf-8")
    print("evidence: wrote docs/evidence.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())

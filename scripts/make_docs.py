#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the generated parts of docs/: each mechanism's table of options.

The text between `<!-- options: NAME ... -->` and `<!-- end -->` in docs/mechanisms/*.md follows from
`tandem mechanisms --json`. With --check, nothing is written and a stale page is an error.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- options: ([a-z-]+) [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)


def table(mechanism):
    if not mechanism["parameters"]:
        return "It has no options.\n"
    lines = ["| option | type | default | meaning |", "|---|---|---|---|"]
    for option in mechanism["parameters"]:
        cells = [f"`{option['name']}`", option["type"], f"`{option['default']}`", option["help"]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    check = "--check" in sys.argv[1:]
    listing = subprocess.run([ROOT / "build" / "tandem", "mechanisms", "--json"], check=True,
                             capture_output=True, text=True).stdout
    mechanisms = {m["name"]: m for m in json.loads(listing)["mechanisms"]}
    problems = []
    for name in mechanisms:
        page = ROOT / "docs" / "mechanisms" / (name.replace("-", "_") + ".md")
        if not page.exists():
            problems.append(f"{page.relative_to(ROOT)} is missing")
            continue
        text = page.read_text(encoding="utf-8")
        if not BLOCK.search(text):
            problems.append(f"{page.relative_to(ROOT)} has no place for its options")
        fresh = BLOCK.sub(lambda m: m[1] + table(mechanisms[m[2]]) + m[3], text)
        if fresh != text and check:
            problems.append(f"{page.relative_to(ROOT)} is stale: ./run docs")
        elif fresh != text:
            page.write_text(fresh, encoding="utf-8")
            print(f"wrote {page.relative_to(ROOT)}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

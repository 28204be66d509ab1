#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the generated parts of docs/: each mechanism's table of options, and the map of all files.

The text between `<!-- options: NAME ... -->` and `<!-- end -->` in docs/mechanisms/*.md follows from
`tandem mechanisms --json`. docs/map.md has the first sentence of every header and of every source
without one. With --check, nothing is written and a stale page is an error.
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


def first_sentence(path):
    """The first sentence of the comment at the top of a file."""
    words = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("// SPDX") or line.startswith("#pragma"):
            continue
        if not line.startswith("//"):
            if words:
                break
            if line.startswith("#include"):
                continue
            if line.strip():
                break
            continue
        if line.strip() == "//":
            break
        words.append(line[2:].strip())
    text = " ".join(words)
    return re.split(r"(?<=[.:])\s", text, maxsplit=1)[0].rstrip(".:") if text else ""


def file_map():
    src = ROOT / "src" / "tandem"
    out = ["# Map", "", "Every header of the library, and every source that has none, with what its first comment says.",
           "[ARCHITECTURE.md](../ARCHITECTURE.md) says why they lie where they lie. `./run docs` writes this page.",
           ""]
    folders = sorted({path.parent for path in src.rglob("*.h")} | {path.parent for path in src.rglob("*.cpp")})
    for folder in folders:
        files = sorted(folder.glob("*.h")) + [
            path for path in sorted(folder.glob("*.cpp")) if not path.with_suffix(".h").exists()]
        lines = [f"| `{path.name if path.suffix == '.cpp' else path.stem}` | {first_sentence(path)} |"
                 for path in files if first_sentence(path)]
        if lines:
            out += [f"## {folder.relative_to(src.parent)}", "", "| file | what it has |", "|---|---|", *lines, ""]
    return "\n".join(out)


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
    page = ROOT / "docs" / "map.md"
    fresh = file_map()
    if not page.exists() or page.read_text(encoding="utf-8") != fresh:
        if check:
            problems.append("docs/map.md is stale: ./run docs")
        else:
            page.write_text(fresh, encoding="utf-8")
            print("wrote docs/map.md")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

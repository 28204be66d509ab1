#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Brings results of ./run papers to docs/papers: publish.py NAME..., where a NAME may end in -quick;
without a name, the index alone.

Of build/papers/NAME it copies results.csv and the pictures, and puts page.md between
`<!-- results ... -->` and `<!-- end -->` of docs/papers/NAME/README.md. The rest of a page is
written by hand: what differs from the paper, and why. docs/papers/README.md gets a line for each
page, with its title and how many lines are green."""
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAPERS = ROOT / "docs" / "papers"
RESULTS = re.compile(r"(<!-- results [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
INDEX = re.compile(r"(<!-- figures [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)


def publish(name):
    build, docs = ROOT / "build" / "papers" / name, PAPERS / name.removesuffix("-quick")
    if not (build / "page.md").exists():
        sys.exit(f"publish: {build}/page.md is missing; run ./run papers {name} first")
    docs.mkdir(parents=True, exist_ok=True)
    for path in [*build.glob("results*.csv"), *build.glob("*.svg")]:
        shutil.copy(path, docs / path.name)
    page = docs / "README.md"
    if not page.exists():
        page.write_text(f"# {name}\n\n<!-- results of ./run papers {name} (written by "
                        "scripts/papers/publish.py) -->\n<!-- end -->\n", encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    if not RESULTS.search(text):
        sys.exit(f"publish: {page} has no place for results")
    new = (build / "page.md").read_text(encoding="utf-8")
    if name.endswith("-quick"):
        new = ("**From a quick run**: one seed and few epsilons. Colours may change with a full one.\n\n" +
               new)
    page.write_text(RESULTS.sub(lambda m: m[1] + new + m[2], text), encoding="utf-8")


def index():
    rows = ["| figure | what it shows | lines |", "|---|---|---|"]
    for page in sorted(PAPERS.glob("*/README.md")):
        text = page.read_text(encoding="utf-8")
        title = text.splitlines()[0].removeprefix("# ").split(": ", 1)[-1]
        green, red = text.count("\n| green |"), text.count("\n| **red** |")
        colour = "green" if red == 0 else f"{green} green, **{red} red**"
        if green + red == 0:
            colour = "not run yet"
        elif red == 0:
            colour = f"all {green} green"
        if "**From a quick run**" in text:
            colour += " (quick run)"
        elif "**Not run yet**" in text and green + red > 0:
            colour += " (in part)"
        rows.append(f"| [{page.parent.name}]({page.parent.name}/README.md) | {title} | {colour} |")
    path = PAPERS / "README.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(INDEX.sub(lambda m: m[1] + "\n".join(rows) + "\n" + m[2], text),
                    encoding="utf-8")


for name in sys.argv[1:]:
    publish(name)
index()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every folder includes only the folders it may (ARCHITECTURE.md, Layers).

Beyond the table: mechanism and model code has no include path, direct or through other headers, to
a data source or to the definition of PrivateData.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "tandem"

LAYERS = {
    "base": [],
    "data": ["base"],
    "query": ["base", "data"],
    "source": ["base", "data", "query"],
    "optimize": ["base", "query"],
    "model": ["base", "data", "query", "optimize"],
    "privacy": ["base", "data", "query", "source"],
    "mechanism": ["base", "data", "query", "optimize", "model", "privacy"],
    "eval": ["base", "data", "query"],
    "report": ["base", "data", "query", "eval", "mechanism/release.h", "privacy/filter.h"],
    "engine": ["base", "data", "query", "source", "optimize", "model", "privacy", "mechanism",
               "eval", "report"],
}
# What the doors may include.
DOORS = {"apps": ["base", "engine"], "python": ["base", "engine"]}
# Folders from which no header may lead to a data source.
BLIND = ["optimize", "model", "mechanism", "eval", "report"]

INCLUDE = re.compile(r'^\s*#\s*include\s+"tandem/([^"]+)"', re.MULTILINE)


def includes(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def allowed(target, permitted):
    return target in permitted or target.split("/")[0] in permitted


def main():
    problems = []
    files = sorted(SRC.rglob("*.h")) + sorted(SRC.rglob("*.cpp"))
    for path in files:
        relative = path.relative_to(SRC)
        if len(relative.parts) == 1:
            continue  # tandem.h, the umbrella
        layer = relative.parts[0]
        if layer not in LAYERS:
            problems.append(f"{relative}: folder '{layer}' is not in the table of layers")
            continue
        for target in includes(path):
            if not (SRC / target).exists():
                problems.append(f"{relative}: includes {target}, which does not exist")
            elif target.split("/")[0] != layer and not allowed(target, LAYERS[layer]):
                problems.append(f"{relative}: '{layer}' may not include {target}")
    for door, permitted in DOORS.items():
        for path in sorted((ROOT / door).rglob("*.cpp")) + sorted((ROOT / door).rglob("*.h")):
            for target in includes(path):
                if target != "tandem.h" and not allowed(target, permitted):
                    problems.append(f"{path.relative_to(ROOT)}: '{door}' may not include {target}")

    def reaches_source(path, seen):
        for target in includes(path):
            if target.startswith("source/") or target == "privacy/private_data.h":
                return [target]
            header = SRC / target
            if header.exists() and target not in seen:
                seen.add(target)
                if tail := reaches_source(header, seen):
                    return [target, *tail]
        return []

    for path in files:
        relative = path.relative_to(SRC)
        if relative.parts[0] in BLIND and (chain := reaches_source(path, set())):
            problems.append(f"{relative}: reaches a data source through {' -> '.join(chain)}")

    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"layers: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

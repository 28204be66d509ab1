#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every folder includes only the folders it may (ARCHITECTURE.md, Layers).

Beyond the table:
- Mechanism and model code has no include path, direct or through other headers, to a data source,
  to the definition of PrivateData, or to what opens files of rows.
- How long a source is, how many rows it has and when it was written only its door asks
  (privacy/door.cpp), which says what of it is public; beside it those named in ASKS.
- The files outside privacy/ that a private row passes through are TRUSTED, by name, here and in
  SECURITY.md. What includes lead to must be on the list, and nothing else.

usage: check_layers.py [ROOT]
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent.parent

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
# Folders from which no chain of headers may lead to rows, and what that would be.
BLIND = ["optimize", "model", "mechanism", "eval", "report"]
SIGHT = ["source/", "privacy/private_data.h", "data/csv.h", "data/byte_source.h",
         "data/pairs.h"]

# What the sensitivity of a count rests on outside privacy/ and base/: from the bytes of a private
# file to a cell of a marginal, each row must be read by itself and be counted once. A change in one
# of these files is reviewed like one in privacy/. Names without suffix, as in ARCHITECTURE.md.
TRUSTED = {
    "data": ["arrow", "arrow_cells", "attribute", "binned_codec", "bit_table", "byte_source",
             "calendar", "cell_texts", "clique", "codec", "column_coder", "column_schema", "condition", "csv", "csv_blocks", "csv_columns",
             "csv_parser", "csv_reader", "csv_tokenizer", "domain", "encoding", "field_memo",
             "growing_table", "indicator", "order", "pairs", "person_key", "place", "possible_row",
             "relation_text", "relations", "row_encoder", "rows_per_person", "rules", "schema",
             "table", "text_format", "time_zone", "value_line", "word_reader"],
    "query": ["axis_map", "block_counter", "cell_map", "conjunction_counting", "conjunctions", "counting", "factor",
              "linear_map", "linear_query", "map_distance", "measurement"],
    "source": ["arrow_text", "bit_source", "counted_source", "data_source", "duckdb",
               "memory_source", "open", "parquet", "row_stream", "source_files", "text_size"],
}
# Where a private table is opened, held and counted: with all of privacy/.
PRIVATE_PATH = ["source/open.cpp"]
# Sources of csv.h that never see a private row: public files as text, and the rows of a release.
ASIDE = ["data/csv_scanner.cpp", "data/csv_writer.cpp"]

# What a file is asked for beside its content, and who may ask: of a private source its door alone.
ASKS = re.compile(r"text_size\.h\"|file_size\(|last_write_time\(|\bstat\(|st_size|st_mtim")
MAY_ASK = [
    "privacy/door.cpp", "privacy/source_facts.h", "source/text_size.h", "source/text_size.cpp",
    "data/byte_source.cpp",          # progress, on a terminal alone
    "privacy/ledger_file.cpp",       # the ledger's own file
    "engine/memory.cpp",             # of public files
    "engine/input_files.cpp",        # which file it is
    "engine/checked.cpp",            # INTERNAL
    "source/parquet.cpp",            # whether a path is a file at all
    "engine/release/release_folder.cpp",
]

INCLUDE = re.compile(r'^\s*#\s*include\s+"tandem/([^"]+)"', re.MULTILINE)


def includes(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def allowed(target, permitted):
    return target in permitted or target.split("/")[0] in permitted


def check_folders(root, files, problems):
    src = root / "src" / "tandem"
    for path in files:
        relative = path.relative_to(src)
        if len(relative.parts) == 1:
            continue  # tandem.h, the umbrella
        layer = relative.parts[0]
        if layer not in LAYERS:
            problems.append(f"{relative}: folder '{layer}' is not in the table of layers")
            continue
        for target in includes(path):
            if not (src / target).exists():
                problems.append(f"{relative}: includes {target}, which does not exist")
            elif target.split("/")[0] != layer and not allowed(target, LAYERS[layer]):
                problems.append(f"{relative}: '{layer}' may not include {target}")
    for door, permitted in DOORS.items():
        for path in sorted((root / door).rglob("*.cpp")) + sorted((root / door).rglob("*.h")):
            for target in includes(path):
                if target != "tandem.h" and not allowed(target, permitted):
                    problems.append(f"{path.relative_to(root)}: '{door}' may not include {target}")


def check_blind(src, files, problems):
    def chain_to_rows(path, seen):
        for target in includes(path):
            if any(target.startswith(sight) for sight in SIGHT):
                return [target]
            header = src / target
            if header.exists() and target not in seen:
                seen.add(target)
                if tail := chain_to_rows(header, seen):
                    return [target, *tail]
        return []

    for path in files:
        relative = path.relative_to(src)
        if relative.parts[0] in BLIND and (chain := chain_to_rows(path, set())):
            problems.append(f"{relative}: reaches rows through {' -> '.join(chain)}")


def check_asking(src, files, problems):
    for path in files:
        relative = str(path.relative_to(src))
        if relative not in MAY_ASK and ASKS.search(path.read_text(encoding="utf-8")):
            problems.append(f"{relative}: asks a file for its size or time; what of a private source "
                            "is public its door says (privacy/door.cpp)")


def sources_of(src, header):
    """The .cpp files that define what a header declares: of its name, or of its name and more."""
    path = src / header
    if path.suffix != ".h":
        return []
    found = [path.with_suffix(".cpp")] if path.with_suffix(".cpp").exists() else []
    for more in sorted(path.parent.glob(f"{path.stem}_*.cpp")):
        if not more.with_suffix(".h").exists() and header in includes(more):
            found.append(more)
    return [str(source.relative_to(src)) for source in found]


def check_trusted(root, problems):
    src = root / "src" / "tandem"
    reached = set()
    waiting = PRIVATE_PATH + [str(path.relative_to(src)) for path in src.glob("privacy/*.cpp")]
    while waiting:
        file = waiting.pop()
        if file in reached or file in ASIDE or not (src / file).exists():
            continue
        reached.add(file)
        waiting += includes(src / file) + sources_of(src, file)
    on_the_way = {file.rsplit(".", 1)[0] for file in reached if file.split("/")[0] in TRUSTED}
    listed = {f"{folder}/{name}" for folder, names in TRUSTED.items() for name in names}
    for name in sorted(on_the_way - listed):
        problems.append(f"{name}: a private row may pass through it; review it as part of the "
                        "trusted core and add it to TRUSTED in check_layers.py and to SECURITY.md")
    for name in sorted(listed - on_the_way):
        problems.append(f"{name}: is TRUSTED in check_layers.py, and no private row passes through "
                        "it; take it off the list and out of SECURITY.md")
    page = (root / "SECURITY.md").read_text(encoding="utf-8")
    section = page.partition("## What is trusted")[2].partition("\n## ")[0]
    for name in sorted(listed):
        if f"`{name.split('/')[1]}`" not in section:
            problems.append(f"SECURITY.md: 'What is trusted' does not name {name}; add it")


def main(root):
    src = root / "src" / "tandem"
    files = sorted(src.rglob("*.h")) + sorted(src.rglob("*.cpp"))
    problems = []
    check_folders(root, files, problems)
    check_blind(src, files, problems)
    check_asking(src, files, problems)
    check_trusted(root, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"layers: {len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines and branches of the trusted files their own tests reach.

Runs test_privacy, test_data, test_query and test_source of the coverage build (gcov) and reads with
gcovr what they reached. A branch counts when it is taken at least once. Left out are edges that only
an exception takes, those that the compiler makes where nothing of the source branches, and those of
planted faults and of check(), which nothing can take. The result is kept in
build/evidence/coverage.tsv.

usage: coverage.py [--missing FILE] [--kept] [--quick]

  --missing FILE  the lines of a file with branches that are never taken
  --kept          read what the last run of the tests left, and run none
  --quick         leave out the audits and the tiny worlds, which take longest
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import mutations as m  # noqa: E402  (the list of trusted files)

BUILD = m.ROOT / "build" / "coverage"
KEPT = m.ROOT / "build" / "evidence"
RESULT = KEPT / "coverage.tsv"
DETAILS = KEPT / "coverage.json"
# What nothing can take: planted faults, promises between parts of the code, constant conditions.
DEAD = r".*(\bmutant\(|\bcheck\(|if constexpr).*"
TESTS = ["test_privacy", "test_data", "test_query", "test_source"]


def run_tests(quick):
    for counts in BUILD.rglob("*.gcda"):
        counts.unlink()
    with tempfile.TemporaryDirectory(prefix="tm") as there:
        os.chmod(there, 0o755)  # a test becomes another user
        for test in TESTS:
            environment = {**os.environ, "RC_PARAMS": "seed=1", "GTEST_BRIEF": "1", "TMPDIR": there}
            print(f"coverage: {test}", file=sys.stderr)
            tests = "-*Audit*:*TinyWorld*" if quick else "*"
            subprocess.run([str(BUILD / "tests" / test), f"--gtest_filter={tests}"], check=True, cwd=there, env=environment,
                           stdout=subprocess.DEVNULL)


def read_counts():
    if shutil.which("gcovr") is None:
        sys.exit("coverage: gcovr is missing; run scripts/install.sh evidence")
    subprocess.run(["gcovr", "--root", str(m.ROOT), "--exclude-throw-branches",
                    "--exclude-unreachable-branches", "--exclude-branches-by-pattern", DEAD, "--gcov-ignore-parse-errors",
                    "--filter", str(m.ROOT / "src/tandem/(privacy|data|query|source)/"),
                    "--json", str(DETAILS), str(BUILD / "CMakeFiles"), str(BUILD / "tests")],
                   check=True, cwd=m.ROOT, stdout=subprocess.DEVNULL)


def summed(lines):
    """(lines reached, lines, branches taken, branches)"""
    real = [line for line in lines if not line.get("gcovr/noncode")]
    branches = [branch for line in real for branch in line["branches"]]
    return (sum(line["count"] > 0 for line in real), len(real),
            sum(branch["count"] > 0 for branch in branches), len(branches))


def table():
    """A row of numbers for each trusted file with code."""
    known = {entry["file"].removeprefix("src/tandem/"): entry["lines"]
             for entry in json.loads(DETAILS.read_text())["files"]}
    return {file: summed(known[file]) for file in m.trusted_files() if file in known}


def share(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def missing(file):
    source = (m.ROOT / "src" / "tandem" / file).read_text(encoding="utf-8").split("\n")
    for entry in json.loads(DETAILS.read_text())["files"]:
        if entry["file"] != f"src/tandem/{file}":
            continue
        for line in entry["lines"]:
            untaken = sum(branch["count"] == 0 for branch in line["branches"])
            if untaken or line["count"] == 0 and not line.get("gcovr/noncode"):
                number = line["line_number"]
                print(f"{number:5} {untaken}/{len(line['branches'])} {source[number - 1]}")


def main(words):
    KEPT.mkdir(parents=True, exist_ok=True)
    if words[:1] == ["--missing"]:
        missing(words[1])
        return 0
    if "--kept" not in words:
        run_tests("--quick" in words)
    read_counts()
    rows = table()
    total = [sum(row[i] for row in rows.values()) for i in range(4)]
    with open(RESULT, "w", encoding="utf-8") as out:
        out.write("file\tlines reached\tlines\tbranches taken\tbranches\n")
        for file, row in rows.items():
            out.write("\t".join((file, *map(str, row))) + "\n")
    for file, (lines, of_lines, branches, of_branches) in rows.items():
        print(f"{file:36} {share(lines, of_lines):>7} of {of_lines:5} lines "
              f"{share(branches, of_branches):>7} of {of_branches:5} branches")
    print(f"coverage: {share(*total[:2])} of {total[1]} lines, {share(*total[2:])} of {total[3]} "
          f"branches of {len(rows)} trusted files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a checker over every source of a compilation database, several at once.

usage: each_source.py compile_commands.json JOBS syntax|tidy [CACHE]

A source that was clean is remembered by the digest of itself and all project headers, so that a
second run looks only at what changed.
"""

import concurrent.futures
import hashlib
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def digest_of_headers():
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for header in sorted(ROOT.glob("**/*.h")):
        if "build" not in header.relative_to(ROOT).parts:
            digest.update(header.read_bytes())
    return digest.hexdigest()


def command_for(entry, mode, database):
    if mode == "tidy":
        return ["clang-tidy", "--quiet", "-p", str(database.parent), entry["file"]]
    words = [w for w in shlex.split(entry["command"]) if "ccache" not in w]
    output = words.index("-o")
    return words[:output] + words[output + 2:] + ["-fsyntax-only", "-Werror"]


def main():
    database, jobs, mode = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3]
    headers = digest_of_headers()
    clean = database.parent / f"clean-{mode}"
    clean.mkdir(exist_ok=True)

    def check(entry):
        source = pathlib.Path(entry["file"])
        key = hashlib.sha256((headers + entry["command"]).encode() + source.read_bytes()).hexdigest()
        if (clean / key).exists():
            return True, ""
        result = subprocess.run(command_for(entry, mode, database), cwd=entry["directory"],
                                capture_output=True, text=True)
        if result.returncode == 0:
            (clean / key).touch()
        return result.returncode == 0, result.stdout + (result.stderr if mode == "syntax" else "")

    entries = json.loads(database.read_text())
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for good, text in pool.map(check, entries):
            if not good:
                failures += 1
                print(text)
    print(f"{mode}: {len(entries)} sources, {failures} with problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

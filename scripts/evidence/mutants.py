#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes faults in the trusted files, one at a time, and says which of them the tests catch.

Of all mutations (mutations.py) a sample is drawn uniformly, in an order that a seed decides; one
that does not compile, or whose object code is that of the file as it is, does not apply, and the
next one is drawn. The changed file is compiled
alone and linked in front of the library with the tests' own objects of the release build, so build
that first. Tests run in stages, the nearest first; a mutant that no stage catches has survived.

Results are added to build/evidence/mutants.tsv, and a mutant that stands there is not run again.

usage: mutants.py [--sample 300] [--seed 1] [--folder NAME]... [--file PART] [--all]
                  [--again] [--minutes N] [--list] [--near] [--without PROGRAM]...

  --sample N   how many that compile are to be judged; --all: every one
  --again      run those once more that survived before and are not explained
  --minutes N  begin none after so many minutes
  --list       print what would be drawn, and do nothing
  --near       leave out the last stages: quick, and a survivor may yet be caught by them
  --without P  leave out the stages of a test program, such as test_mechanism
"""

import argparse
import atexit
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import mutations as m  # noqa: E402

BUILD = m.ROOT / "build" / "release"
KEPT = m.ROOT / "build" / "evidence"
RESULTS = KEPT / "mutants.tsv"
EXPLAINED = pathlib.Path(__file__).resolve().parent / "explained.tsv"

# The slowest tests of the gate, which run for what the others leave alive.
SLOW = "Audit*:*/Audit*:TinyWorld*:*/TinyWorld*:LedgerProcess*"
# Who judges a fault in a folder, the nearest and quickest first.
STAGES = {
    "privacy": [("test_privacy", "-" + SLOW), ("test_privacy", SLOW), ("test_source", "*"),
                ("test_engine", "*"), ("test_mechanism", "*")],
    "data": [("test_data", "*"), ("test_source", "*"), ("test_privacy", "-" + SLOW),
             ("test_engine", "*"), ("test_query", "*")],
    "query": [("test_query", "*"), ("test_privacy", "-" + SLOW), ("test_source", "*"),
              ("test_data", "*"), ("test_privacy", SLOW), ("test_optimize", "*"),
              ("test_mechanism", "*"), ("test_engine", "*")],
    "source": [("test_source", "*"), ("test_privacy", "-" + SLOW), ("test_engine", "*"),
               ("test_data", "*")],
}
NEAR = {"privacy": 1, "data": 2, "query": 2, "source": 2}  # stages with --near
MEMORY = 6 << 30  # bytes that a mutant may map
WRITTEN = 1 << 30  # bytes that it may write into a file


class Bench:
    """Compiles, links and runs."""

    def __init__(self):
        self.commands = {}
        for entry in json.loads((BUILD / "compile_commands.json").read_text()):
            if "TANDEM_MUTANTS" not in entry["command"]:
                self.commands.setdefault(entry["file"], entry["command"])
        self.links = {}
        self.seconds = {}  # of a stage without a fault
        self.work = KEPT / f"work-{os.getpid()}"  # of one process
        atexit.register(shutil.rmtree, self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.there = pathlib.Path(tempfile.mkdtemp(prefix="tm"))  # where tests run; a short path
        atexit.register(shutil.rmtree, self.there, ignore_errors=True)
        self.there.chmod(0o755)  # a test becomes another user
        self.dependencies = self.includers()
        told = subprocess.run([str(m.ROOT / "scripts" / "duckdb.sh"), "--there"], check=True,
                              capture_output=True, text=True)
        self.duckdb = told.stdout.strip()  # without it, tests of Parquet are skipped
        self.sound = {}  # object code of a file as it is

    def includers(self):
        """For each trusted header, the trusted sources that its text becomes part of."""
        src = m.ROOT / "src" / "tandem"
        found = {}
        for file in m.trusted_files():
            if not file.endswith(".cpp"):
                continue
            waiting, seen = [(file, 0)], {}
            while waiting:
                name, depth = waiting.pop(0)
                for target in m.check_layers.includes(src / name):
                    if target not in seen and (src / target).exists():
                        seen[target] = depth + 1
                        waiting.append((target, depth + 1))
            for header, depth in seen.items():
                found.setdefault(header, {})[file] = depth
        return found

    def compile(self, source, include, out):
        """Whether it compiles. `include`: a folder that is looked into before src/."""
        original = m.ROOT / "src" / "tandem" / source
        changed = include / "tandem" / source
        command = shlex.split(self.commands[str(original)])
        words = []
        skip = False
        for word in command:
            if skip:
                skip = False
            elif word in ("-o", "-c"):
                skip = True
            elif word == "-O3":
                words.append("-O1")  # quicker, for what runs once
            elif word == f"-I{m.ROOT / 'src'}":
                words += [f"-I{include}", word]
            elif word.endswith("ccache") or word.startswith("CCACHE_"):
                continue
            else:
                words.append(word)
        if words[0].endswith("cmake"):  # cmake -E env ... ccache
            words = words[next(i for i, w in enumerate(words) if w.endswith(("c++", "g++"))):]
        # The library's own checks stand for the sanitizers, under which ./run test runs these too.
        words += ["-D_GLIBCXX_ASSERTIONS", "-w", "-o", str(out), "-c", str(changed if changed.exists() else original)]
        return subprocess.run(words, cwd=BUILD, capture_output=True, text=True).returncode == 0

    def link(self, program, objects, out):
        if program not in self.links:
            told = subprocess.run(["ninja", "-t", "commands", f"tests/{program}"], cwd=BUILD,
                                  check=True, capture_output=True, text=True).stdout
            last = told.strip().splitlines()[-1]
            self.links[program] = last.removeprefix(": && ").removesuffix(" && :")
        words = shlex.split(self.links[program])
        at = words.index("-o")
        words[at + 1] = str(out)
        words[1:1] = [*map(str, objects), *(["-fuse-ld=gold"] if shutil.which("ld.gold") else [])]
        return subprocess.run(words, cwd=BUILD, capture_output=True, text=True)

    def run(self, program, tests, limit):
        """How it ended: nothing where all tests passed, else what caught it."""
        def bounded():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_FSIZE, (WRITTEN, WRITTEN))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        environment = {**os.environ, "TANDEM_DUCKDB": self.duckdb, "RC_PARAMS": "seed=1", "GTEST_BRIEF": "1",
                       "GTEST_FAIL_FAST": "1", "TMPDIR": str(self.there)}
        log = self.work / "log"
        with open(log, "w", encoding="utf-8") as out:
            process = subprocess.Popen([str(program), f"--gtest_filter={tests}"], stdout=out,
                                       stderr=subprocess.STDOUT, cwd=self.there,
                                       env=environment, preexec_fn=bounded, start_new_session=True)
            try:
                code = process.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                code = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        for left in self.there.iterdir():
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink()
        if code is None:
            return f"no end in {limit:.0f} s"
        if code == 0:
            return ""
        text = log.read_text(encoding="utf-8", errors="replace")
        named = re.findall(r"^\[  FAILED  \] (\S+)", text, re.MULTILINE)
        return named[0] if named else f"exit {code}"

    def stage_seconds(self, stage):
        """How long a stage takes without a fault; it must pass."""
        if stage not in self.seconds:
            kept = KEPT / "stages.tsv"
            key = f"{stage[0]} {stage[1]}"
            if kept.exists():
                for line in kept.read_text().splitlines():
                    name, seconds = line.split("\t")
                    if name == key:
                        self.seconds[stage] = float(seconds)
            if stage not in self.seconds:
                began = time.time()
                caught = self.run(BUILD / "tests" / stage[0], stage[1], 3600)
                if caught:
                    sys.exit(f"mutants: {key} fails without a fault: {caught}")
                self.seconds[stage] = time.time() - began
                with open(kept, "a", encoding="utf-8") as out:
                    out.write(f"{key}\t{self.seconds[stage]:.1f}\n")
        return self.seconds[stage]

    def sources(self, mutation, wide):
        """What is compiled anew: of a header, the sources that include it; at first the nearest."""
        if mutation.file.endswith(".cpp"):
            return [mutation.file]
        users = self.dependencies.get(mutation.file, {})
        own = mutation.file[:-2]
        near = {file for file, depth in users.items()
                if file[:-4] == own or file[:-4].startswith(own + "_")
                or depth == 1 and file.split("/")[0] in (mutation.folder(), "privacy")}
        return sorted(users) if wide or not near else sorted(near)

    def objects(self, mutation, place, files):
        """Compiled sources with the fault; nothing where it doesn't compile."""
        out = []
        for file in files:
            name = place / (file.replace("/", "_") + ".o")
            if not name.exists() and not self.compile(file, place, name):
                return None
            out.append(name)
        return out

    def is_same(self, objects, files):
        """Whether the compiler makes of all these files what it makes of them without a fault."""
        for name, file in zip(objects, files):
            if file not in self.sound:
                sound = self.work / "sound.o"
                if not self.compile(file, self.work / "nothing", sound):
                    return False
                self.sound[file] = code_of(sound)
            if code_of(name) != self.sound[file]:
                return False
        return True

    def judge(self, mutation, near_only, without):
        """(outcome, by): 'caught', 'survived', or 'none' for what does not apply."""
        place = self.work / "mutant"
        shutil.rmtree(place, ignore_errors=True)
        changed = place / "tandem" / mutation.file
        changed.parent.mkdir(parents=True)
        changed.write_text(m.changed(mutation), encoding="utf-8")
        files = self.sources(mutation, False)
        objects = self.objects(mutation, place, files) if files else None
        if objects is None:
            return "none", "does not compile"
        stages = STAGES[mutation.folder()]
        own = own_suites(mutation.file)
        if own:
            stages = [(stages[0][0], own), *stages]
        wide = mutation.file.endswith(".cpp")
        if near_only:
            stages = stages[:len(stages) - len(STAGES[mutation.folder()]) + NEAR[mutation.folder()]]
        stages = [stage for stage in stages if stage[0] not in without]
        for number, stage in enumerate(stages):
            if number > 0 and not wide:
                wide = True
                more = self.objects(mutation, place, self.sources(mutation, True))
                if more is not None:
                    objects = more
                    files = self.sources(mutation, True)
                    for linked in {name for name, _ in stages}:  # anew, with all of them
                        (place / linked).unlink(missing_ok=True)
            limit = 20 + 4 * self.stage_seconds(stage)
            program = place / stage[0]
            if not program.exists():
                linked = self.link(stage[0], objects, program)
                if linked.returncode != 0:
                    return "none", "does not link"
            caught = self.run(program, stage[1], limit)
            if caught:
                return "caught", f"{stage[0]} {caught}"
        if wide and self.is_same(objects, files):
            return "none", "the same code"
        return "survived", ""


def own_suites(file):
    """A filter for the suites that are about a file by its name: what judges it soonest."""
    folder, stem = file.rsplit(".", 1)[0].split("/")
    suites = set()
    for test in (m.ROOT / "tests" / folder).glob("*_test.cpp"):
        about = test.stem.removesuffix("_test")
        if stem == about or stem.startswith(about + "_") or about.startswith(stem + "_"):
            suites |= set(re.findall(r"^(?:TEST|TEST_F|RC_GTEST_PROP)\((\w+)", test.read_text(),
                                     re.MULTILINE))
    return ":".join(f"{suite}.*" for suite in sorted(suites) if "Audit" not in suite)


def code_of(name):
    """What of an object file would run, without the names and lines around it."""
    text = subprocess.run(["objdump", "-drs", str(name)], capture_output=True, text=True).stdout
    return hash(text.replace(str(name), ""))


def results():
    out = {}
    if RESULTS.exists():
        for line in RESULTS.read_text(encoding="utf-8").splitlines():
            fields = line.split("\t")
            out[tuple(fields[:5])] = fields[5:]  # the last one counts
    return out


def kept_key(mutation):
    return tuple(field.replace("\t", " ").replace("\n", " ") for field in mutation.key())


def explanations():
    """Reasons by (file, line's text, change); a change of '*' is every one in the line, and of lines
    that are equal ' #2' behind it names the second."""
    out = {}
    if EXPLAINED.exists():
        for line in EXPLAINED.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                file, text, change, reason = line.split("\t")
                out[file, text, change] = reason
    return out


def reason_of(mutation, reasons):
    which = f" #{mutation.nth}" if mutation.times > 1 else ""
    for change in (mutation.change().replace("\n", " "), "*"):
        if (mutation.file, mutation.text, change + which) in reasons:
            return reasons[mutation.file, mutation.text, change + which]
    return None


def sample_of(arguments):
    """Mutations in the order of the draw."""
    chosen = [mutation for mutation in m.all_mutations()
              if (not arguments.folder or mutation.folder() in arguments.folder)
              and (not arguments.file or arguments.file in mutation.file)]
    return m.drawn(chosen, arguments.seed)


def summary(order, known, size):
    """Of the first `size` in the order that apply: lists of caught, survived, explained, unknown."""
    reasons = explanations()
    out = {"caught": [], "survived": [], "explained": [], "unknown": []}
    judged = 0
    for mutation in order:
        if judged == size:
            break
        found = known.get(kept_key(mutation))
        if found is not None and found[0] == "none":
            continue
        judged += 1
        if found is None:
            out["unknown"].append(mutation)
        elif found[0] == "survived" and reason_of(mutation, reasons) is not None:
            out["explained"].append(mutation)
        else:
            out[found[0]].append(mutation)
    return out


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", action="append", choices=sorted(STAGES))
    parser.add_argument("--file", default="")
    for flag in ("--all", "--again", "--list", "--near", "--help"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--without", action="append", default=[])
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__)
        return 0
    order = sample_of(arguments)
    size = len(order) if arguments.all else arguments.sample
    if arguments.list:
        for mutation in order[:size]:
            print(f"{mutation.file}:{mutation.line}: {mutation.text} | {mutation.column} "
                  f"{mutation.change()}")
        return 0
    KEPT.mkdir(parents=True, exist_ok=True)
    bench = Bench()
    known = results()
    reasons = explanations()
    judged = 0
    ends = time.time() + 60 * arguments.minutes if arguments.minutes else float("inf")
    for mutation in order:
        if judged == size or time.time() > ends:
            break
        known = results()  # another of these may run beside this one, on other folders
        found = known.get(kept_key(mutation))
        again = (arguments.again and found is not None and found[0] == "survived"
                 and reason_of(mutation, reasons) is None)
        if found is None or again:
            began = time.time()
            outcome, by = bench.judge(mutation, arguments.near, arguments.without)
            found = [outcome, by, f"{time.time() - began:.1f}"]
            with open(RESULTS, "a", encoding="utf-8") as out:
                out.write("\t".join((*kept_key(mutation), *found)) + "\n")
            if outcome != "none":
                print(f"{judged + 1} {outcome:8} {mutation.file}:{mutation.line} "
                      f"{mutation.change()!r} | {mutation.text[:90]} | {by} {found[2]} s",
                      flush=True)
        judged += found[0] != "none"
    told = summary(order, results(), judged)
    caught, survived, explained = (len(told[k]) for k in ("caught", "survived", "explained"))
    if caught + survived:
        print(f"mutants: {caught} of {caught + survived + explained} caught "
              f"({100 * caught / (caught + survived + explained):.1f}%); without {explained} that "
              f"are explained {100 * caught / (caught + survived):.1f}%; {survived} survive; seed "
              f"{arguments.seed}, of {len(order)}")
    for mutation in told["survived"]:
        print(f"  survives: {mutation.file}:{mutation.line} {mutation.change()!r} | {mutation.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""A figure of a paper: comparisons that can be gone on with, what the paper says as lines, green or
red, pictures, and the page that docs/papers keeps of it.

A figure's script makes a Figure, compares, says lines, draws, and calls done(). Everything goes to
build/papers/NAME, or NAME-quick; `publish.py NAME` brings a full one to docs/papers/NAME."""
import collections
import csv
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TANDEM = pathlib.Path(os.environ.get("TANDEM", ROOT / "build" / "tandem"))
DRAW = ROOT / "build" / "release" / "draw_chart"
EPS6 = (0.1, 0.15, 0.2, 0.25, 0.5, 1.0)
EPSJ = (0.0316, 0.1, 0.316, 1.0, 3.16, 10.0)


def mean(values):
    return statistics.mean(values) if values else math.nan


def shown(value):
    """A proportion or an error, in three digits."""
    if math.isnan(value):
        return "-"
    return f"{value:.4f}" if value < 1 else f"{value:.3f}"


def of_spec(spec):
    """NAME[:KEY=VALUE...] as results.csv has it: the name, and the parameters with spaces between."""
    name, *parts = spec.split(":")
    parameters = []
    for part in parts:
        if "=" in part:
            parameters.append(part)
        else:  # support=random:5000
            parameters[-1] += ":" + part
    return name, " ".join(parameters)


class Figure:
    def __init__(self, name, seeds=5, what="model_max_error"):
        """name: that of the script, such as 000-5. Arguments: [--quick] [--as-is] [--threads N]
        [SEEDS]; as is: nothing is run, and what was run before is shown."""
        self.name = name
        self.what = what  # the column of results.csv that is shown
        self.quick = False
        self.as_is = False
        self.threads = None
        self.seeds = seeds
        words = sys.argv[1:]
        while words:
            word = words.pop(0)
            if word == "--quick":
                self.quick, self.seeds = True, 1
            elif word == "--as-is":
                self.as_is = True
            elif word == "--threads" and words:
                self.threads = words.pop(0)
            elif word.isdigit() and int(word) > 0:
                self.seeds = int(word)
            else:
                sys.exit(f"usage: {sys.argv[0]} [--quick] [--as-is] [--threads N] [SEEDS]")
        self.out = ROOT / "build" / "papers" / (name + ("-quick" if self.quick else ""))
        self.out.mkdir(parents=True, exist_ok=True)
        self.runs = collections.defaultdict(dict)  # (table, label, epsilon): {seed: row}
        self.labels = collections.defaultdict(list)  # of each table, in order
        self.levels = collections.defaultdict(dict)  # of each table: {name: {metric: error}}
        self.lines = []
        self.pictures = []  # Markdown
        self.page = []
        self.rows = []  # of results.csv

    # Data.

    def data(self, *parts):
        """A file of the real data."""
        folder = os.environ.get("TANDEM_DATA")
        if not folder:
            print("papers: set TANDEM_DATA to the folder of the real data", file=sys.stderr)
            sys.exit(2)
        return pathlib.Path(folder, *parts)

    def choose(self, full, quick):
        return quick if self.quick else full

    # Runs.

    def compare(self, table, mechanisms, epsilons, *, private, schema, public=(), part="",
                folder=None, seeds=None, may_refuse=False, **flags):
        """mechanisms: {label: spec}. Results of a table may come from several parts, each with
        its own flags, and several tables may share a folder of results. What is there already is
        not run again. False when tandem refuses and may."""
        folder = self.out / (folder or table + (f"-{part}" if part else ""))
        seeds = min(seeds or self.seeds, self.seeds)
        command = [TANDEM, "compare", "--private", private, "--schema", schema, "--mechanisms",
                   ",".join(mechanisms.values()), "--epsilons", ",".join(f"{e:g}" for e in epsilons),
                   "--seeds", seeds, "--out", folder, "--resume", "--quiet"]
        for source in [public] if isinstance(public, (str, pathlib.Path)) else public:
            command += ["--public", source]
        for flag, value in flags.items():
            command += ["--" + flag.replace("_", "-"), value]
        if self.threads:
            command += ["--threads", self.threads]
        if self.as_is:
            if not (folder / "results.csv").exists():
                return False
            code = 0
        else:
            with open(f"{folder}.log", "w", encoding="utf-8") as log:
                code = subprocess.run([str(word) for word in command], stdout=log, stderr=log,
                                      check=False).returncode
        if may_refuse and (code not in (0, 1) or not (folder / "results.csv").exists()):
            return False
        if code not in (0, 1) or not (folder / "results.csv").exists():
            sys.exit(f"papers: {folder}.log says what went wrong:\n" +
                     pathlib.Path(f"{folder}.log").read_text(encoding="utf-8"))
        if code == 1:  # some runs could not be; the log has a sentence for each
            print(f"       {folder}.log names runs that failed")
        names = {of_spec(spec): label for label, spec in mechanisms.items()}
        with open(folder / "results.csv", newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                label = names.get((row["mechanism"], row["parameters"]))
                if label is None or int(row["seed"]) > seeds:
                    continue
                if not any(math.isclose(float(row["epsilon"]), e) for e in epsilons):
                    continue
                # Files by their names: paths are this machine's.
                paths = {key: " ".join(pathlib.Path(p).name for p in row[key].split())
                         for key in ("data", "public")}
                line = {"table": folder.name, **row, **paths}
                if line not in self.rows:  # several tables may share it
                    self.rows.append(line)
                self.runs[table, label, float(row["epsilon"])][int(row["seed"])] = row
                if label not in self.labels[table]:
                    self.labels[table].append(label)
        self.labels[table].sort(key=lambda l: list(mechanisms).index(l) if l in mechanisms else -1)
        yardsticks = folder / "yardsticks.csv"
        if not yardsticks.exists():  # a comparison that is not through yet
            return True
        with open(yardsticks, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["kind"] == "public":
                    self.levels[table][row["name"]] = row
        return True

    def tune(self, table, spec, grid, epsilons, **how):
        """{epsilon: value}: of the values in the grid, that with which `spec`, where {} stands for
        it, has the smallest error on a validation table."""
        labels = {value: f"validation {value}" for value in grid}
        self.compare(table, {labels[value]: spec.format(value) for value in grid}, epsilons, **how)
        return {e: min(grid, key=lambda value: self.error(table, labels[value], e))
                for e in epsilons}

    def compare_tuned(self, table, label, spec, tuned, **how):
        """Runs each epsilon with its value."""
        for value in sorted(set(tuned.values())):
            self.compare(table, {label: spec.format(value)},
                         [e for e in tuned if tuned[e] == value], **how)

    def values(self, table, label, epsilon, what=None):
        runs = self.runs.get((table, label, epsilon), {}).values()
        return [float(run[what or self.what]) for run in runs if run[what or self.what]]

    def error(self, table, label, epsilon, what=None):
        """The mean over seeds; NaN where there is none."""
        return mean(self.values(table, label, epsilon, what))

    def standard_error(self, table, label, epsilon, what=None):
        values = self.values(table, label, epsilon, what)
        return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0

    def runs_each(self, table, labels):
        """How many runs a mean is of: "5", or "2 to 5"."""
        numbers = [len(self.runs[key]) for key in self.runs if key[0] == table and key[1] in labels]
        if not numbers:
            return "0"
        return f"{min(numbers)}" + (f" to {max(numbers)}" if max(numbers) > min(numbers) else "")

    def public_error(self, table):
        """Of the public rows as they are; of the first source where there are several."""
        metric = self.what.split("_", 1)[1]
        return float(next(iter(self.levels[table].values()))[metric])

    def epsilons(self, table):
        return sorted({epsilon for t, _, epsilon in self.runs if t == table})

    # What is said.

    def line(self, holds, sentence, measured):
        """A sentence of the paper, or of ours, and what was measured; none where that is missing."""
        if "nan" in measured:
            self.not_measured(sentence)
            return
        self.lines.append((bool(holds), sentence, measured))
        print(f"{'green' if holds else 'red  '}  {sentence}: {measured}", flush=True)

    def not_measured(self, sentence):
        self.lines.append((None, sentence, "not measured"))
        print(f"   -   {sentence}: not measured", flush=True)

    def below(self, sentence, table, first, second, epsilons=None, factor=1.0):
        """The first is below the second, times a factor, at each epsilon (all by default)."""
        chosen = [e for e in self.epsilons(table) if epsilons is None or epsilons(e)]
        pairs = [(e, self.error(table, first, e), self.error(table, second, e)) for e in chosen]
        pairs = [pair for pair in pairs if not math.isnan(pair[1] + pair[2])]
        if not pairs:
            self.not_measured(sentence)
            return
        part = "" if len(pairs) == len(chosen) else f" ({len(pairs)} of {len(chosen)} epsilons)"
        self.line(all(a < factor * b for _, a, b in pairs), sentence,
                  ", ".join(f"{e:g}: {shown(a)} and {shown(b)}" for e, a, b in pairs) + part)

    def table(self, table, title, what=None):
        """Means over seeds, a row for each label, on the terminal and on the page."""
        epsilons = self.epsilons(table)
        print(f"\n{title}")
        print(f"{'':36}" + "".join(f"{epsilon:>9g}" for epsilon in epsilons))
        out = [f"{title}:", "", "| | " + " | ".join(f"{e:g}" for e in epsilons) + " | runs each |",
               "|---" * (len(epsilons) + 2) + "|"]
        for label in self.labels[table]:
            cells = [shown(self.error(table, label, e, what)) for e in epsilons]
            print(f"{label:36}" + "".join(f"{cell:>9}" for cell in cells))
            out.append(f"| {label} | " + " | ".join(cells) +
                       f" | {self.runs_each(table, [label])} |")
        for name, level in self.levels[table].items():
            error = float(level[(what or self.what).split("_", 1)[1]])
            print(f"{'public rows, ' + name:36}{shown(error):>9}")
            out.append(f"| public rows as they are | {shown(error)} |" + " |" * len(epsilons))
        print(flush=True)
        self.page += out + [""]

    def text(self, words):
        self.page += [words, ""]

    # Pictures.

    def chart(self, name, title, notes, y_name, series, x_name="epsilon", levels=None):
        """As draw_chart, onto the page too."""
        self.pictures += draw_chart(self.out, name, title, notes, y_name, series, x_name, levels)

    def chart_of(self, table, title, notes, y_name, labels=None, name=None):
        """Error against epsilon, a line for each label of a table, the public rows across."""
        metric = self.what.split("_", 1)[1]
        series = {label: {e: self.values(table, label, e) for e in self.epsilons(table)}
                  for label in labels or self.labels[table]}
        levels = {f"public rows, {source}" if len(self.levels[table]) > 1 else "public rows":
                  float(row[metric]) for source, row in self.levels[table].items()}
        runs = self.runs_each(table, labels or self.labels[table])
        notes = notes + [f"Lines are means of {runs} runs, bands reach from the smallest to the "
                         "largest; lower is better." if runs != "1" else "One run each."]
        self.chart(name or table, title, notes, y_name, series, levels=levels,
                   x_name="epsilon, the privacy budget of a release")

    # The end.

    def done(self):
        if self.rows:
            fields = list(self.rows[0])
            with open(self.out / "results.csv", "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, fields, lineterminator="\n")
                writer.writeheader()
                writer.writerows(self.rows)
        write_page(self.out, self.pictures + self.page, self.lines)
        sys.exit(1 if any(holds is False for holds, _, _ in self.lines) else 0)


def draw_chart(out, name, title, notes, y_name, series, x_name="epsilon", levels=None):
    """Draws out/name.svg and its dark twin, and gives the page's lines for them. series: {label: {x:
    [values of seeds]}}, where a band reaches from the least to the largest; levels: {name: y}."""
    lines = []
    for label, spots in series.items():
        spots = [[x, mean(v), min(v), max(v)] for x, v in sorted(spots.items()) if v]
        if spots:
            lines.append({"name": label, "spots": spots})
    if not lines:
        return []
    chart = {"title": title, "notes": notes, "x_name": x_name, "y_name": y_name, "series": lines,
             "levels": [{"name": n, "y": y} for n, y in (levels or {}).items()]}
    path = pathlib.Path(out, f"{name}.json")
    path.write_text(json.dumps(chart), encoding="utf-8")
    subprocess.run([str(DRAW), str(path), str(path.with_suffix(""))], check=True)
    return ["<picture>",
            f'  <source media="(prefers-color-scheme: dark)" srcset="{name}-dark.svg">',
            f'  <img alt="{title}" src="{name}.svg" width="900">', "</picture>", ""]


def write_page(out, page, lines):
    """page.md, the part of a figure's page that its results write: pictures, lines, tables. lines:
    (holds, sentence, measured), where holds is None for what was not measured."""
    out = pathlib.Path(out)
    text = ["| | what is said | measured |", "|---|---|---|"]
    for holds, sentence, measured in lines:
        cells = [cell.replace("|", "\\|") for cell in (sentence, measured)]
        colour = {True: "green", False: "**red**", None: "-"}[holds]
        text.append(f"| {colour} | {cells[0]} | {cells[1]} |")
    pictures = [i for i, line in enumerate(page) if line == "</picture>"]
    cut = pictures[-1] + 2 if pictures else 0  # pictures, lines, then tables
    (out / "page.md").write_text("\n".join(page[:cut] + text + [""] + page[cut:]).rstrip() + "\n",
                                 encoding="utf-8")

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a simulated population: a public survey and a later private register.

Nobody in these files exists. The country, its eight regions and every person are drawn from the
conditional distributions below, so the files are free to use, publish and break.

Two waves observe the same country five years apart:

    public.csv     a survey of mid-2015, a quarter as many rows as the register
    private.csv    the register at the start of 2020

Both are raw (labels, numbers, dates, empty cells). public-coded.csv and private-coded.csv hold the
same rows as integer codes 0..size-1, and domain.json holds {"column": size}. The code book is
COLUMNS: it is written out here, as public knowledge, and never computed from the rows.

The causal graph, parents -> child:

    age                                   -> sex
    age, sex                              -> education
    age, education                        -> region
    age, region                           -> origin
    age, sex                              -> marital
    age, marital, region                  -> household
    age, sex, education, region           -> occupation
    occupation, education                 -> remote
    region, occupation, remote            -> commute_km
    age, sex, education, occupation       -> income
    age, origin, region                   -> moved_in

What drifts from 2015 to 2020 is all in Wave: mostly relationships; the margins follow a little.

    income        education pays more, age and sex matter less; pensions level out
    occupation    education decides more of who does what; more women work, and to a later age;
                  factories leave Dursk, technology comes to Brennick
    remote        spreads in a few occupations, and stretches their commutes
    region        young graduates gather in the capital Alvessa, newcomers in the harbour of Gostry
    household     people marry later and leave their parents later, above all in the capital
    moved_in      people stay longer in one home, except in the capital

Some combinations never occur, in either wave (structural zeros):

    age < 15           education none, marital single, occupation none, income N; and at 15 or more,
                       never education none nor income N
    age < 18           marital single, household of at least 2
    married            household of at least 2
    occupation none    remote and commute_km empty; in any other, remote is never empty
    any age            moved_in never before birth
"""

import argparse
import bisect
import csv
import json
import math
import random
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

DEFAULT_ROWS = 20_000  # of the register; the survey has a quarter of them
DEFAULT_SEED = 2020
NOT_APPLICABLE = "N"  # the income of a child: a value, unlike an empty cell
MAX_AGE, MAX_COMMUTE_KM, MAX_INCOME = 94, 120.0, 250_000
USUAL_KM = 11.0


# ---- The code book ---------------------------------------------------------------------------


class Labels:
    """A column of labels: codes follow the order given, then null."""

    def __init__(self, name, *values, null=False):
        self.name = name
        self.codes = {value: code for code, value in enumerate(values)}
        if null:
            self.codes[None] = len(self.codes)
        self.size = len(self.codes)

    def code(self, value):
        return self.codes[value]


class Bins:
    """A column of numbers or dates: bin i is [edge i-1, edge i), then the specials, then null."""

    def __init__(self, name, *edges, special=(), null=False):
        self.name = name
        self.edges = edges
        outside = [*special, None] if null else special
        self.codes = {value: len(edges) + 1 + i for i, value in enumerate(outside)}
        self.size = len(edges) + 1 + len(self.codes)

    def code(self, value):
        return self.codes[value] if value in self.codes else bisect.bisect_right(self.edges, value)


EDUCATION = ("none", "basic", "trade", "college", "degree")
LEVEL = {name: level for level, name in enumerate(EDUCATION)}

COLUMNS = (
    Bins("age", 15, 20, 25, 30, 35, 45, 55, 65, 75),
    Labels("sex", "F", "M"),
    Labels("region", "Alvessa", "Brennick", "Corvane", "Dursk",
           "Eldomar", "Fenrith", "Gostry", "Halvora"),
    Labels("origin", "native", "elsewhere", "abroad"),
    Labels("education", *EDUCATION, null=True),
    Labels("marital", "single", "married", "divorced", "widowed"),
    Bins("household", 2, 3, 4, 5, 6),
    Labels("occupation", "none", "farming", "building", "factory", "transport", "retail",
           "hospitality", "office", "care", "teaching", "technology", "management"),
    Labels("remote", False, True, null=True),
    Bins("commute_km", 2.0, 5.0, 10.0, 20.0, 40.0, null=True),
    Bins("income", 5_000, 10_000, 15_000, 20_000, 30_000, 40_000, 60_000,
         special=(NOT_APPLICABLE,), null=True),
    Bins("moved_in", date(1980, 1, 1), date(1990, 1, 1), date(2000, 1, 1), date(2008, 1, 1),
         date(2015, 7, 2), null=True),
)


# ---- What drifts -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Wave:
    """The country as one of the two files saw it. Everything else is the same in both."""

    day: date
    age_weights: dict  # first age of a band -> weight
    graduate_pull: float  # log-odds by which the capital draws young graduates
    newcomers: dict  # region -> share born abroad
    marriage_age: float  # the age at which half of those who ever marry have
    leaving_age: float  # the age at which half of the single have left their parents
    city_delay: float  # how many years later in the capital
    old_alone: float  # share of those over 60 without a partner who live on their own
    women_at_home: float  # share in paid work, women's below men's
    pension_age: float  # the age at which half have stopped working
    boom: dict  # region and occupation -> times its usual share
    education_sorting: float  # how strictly education decides the occupation
    remote: dict  # occupation -> share that works from home some days
    typical_km: dict  # region -> commute; USUAL_KM elsewhere
    remote_stretch: float  # how many times farther those who do live from work
    education_return: float  # log-income for each level of education
    career: float  # log-income from the first job to the age of 45
    sex_gap: float  # log-income, women's below men's
    pension_slope: float  # log-pension for each level of education
    income_step: int  # 100 where people give round answers
    refusal: float  # share of empty incomes; the well-off refuse more often
    forgotten: float  # share of other answers that are missing
    years_at_home: float  # in the present home, typically, up to the age of 18
    settling: float  # so much longer for each year of age after that
    city_churn: float  # how many times as often people move in the capital


SURVEY = Wave(
    day=date(2015, 7, 1),
    age_weights={0: 16, 15: 6, 20: 7, 25: 13, 35: 14, 45: 15, 55: 12, 65: 9, 75: 6, 85: 2},
    graduate_pull=0.3,
    newcomers={"Alvessa": 0.18, "Brennick": 0.12, "Gostry": 0.04},
    marriage_age=26.0,
    leaving_age=22.0,
    city_delay=-2.0,
    old_alone=0.62,
    women_at_home=0.22,
    pension_age=62.0,
    boom={("Dursk", "factory"): 1.6, ("Gostry", "building"): 1.5},
    education_sorting=0.6,
    remote={"office": 0.12, "teaching": 0.15, "technology": 0.30, "management": 0.25,
            "farming": 0.20},
    typical_km={"Alvessa": 7.0, "Brennick": 7.0, "Eldomar": 17.0, "Fenrith": 24.0, "Halvora": 4.0},
    remote_stretch=1.0,
    education_return=0.08,
    career=0.45,
    sex_gap=0.36,
    pension_slope=0.25,
    income_step=100,
    refusal=0.05,
    forgotten=0.02,
    years_at_home=2.0,
    settling=0.36,
    city_churn=0.8,
)

REGISTER = Wave(
    day=date(2020, 1, 1),
    age_weights={0: 15, 15: 6, 20: 6, 25: 13, 35: 13, 45: 14, 55: 13, 65: 11, 75: 7, 85: 2},
    graduate_pull=1.3,
    newcomers={"Alvessa": 0.10, "Brennick": 0.08, "Gostry": 0.30},
    marriage_age=31.0,
    leaving_age=24.0,
    city_delay=4.0,
    old_alone=0.88,
    women_at_home=0.02,
    pension_age=65.0,
    boom={("Dursk", "care"): 2.5, ("Brennick", "technology"): 2.5, ("Corvane", "office"): 1.8},
    education_sorting=1.2,
    remote={"office": 0.42, "teaching": 0.12, "technology": 0.66, "management": 0.38,
            "farming": 0.12},
    typical_km={"Alvessa": 9.5, "Brennick": 5.5, "Eldomar": 12.0, "Fenrith": 16.0, "Halvora": 4.0},
    remote_stretch=2.0,
    education_return=0.25,
    career=0.20,
    sex_gap=0.12,
    pension_slope=0.05,
    income_step=1,
    refusal=0.02,
    forgotten=0.01,
    years_at_home=7.0,
    settling=0.44,
    city_churn=1.8,
)


# ---- A person, top down ----------------------------------------------------------------------


def person(draw, wave):
    """One row, in the order of COLUMNS; parents are drawn before their children."""
    age = draw_age(draw, wave)
    sex = draw_sex(draw, age)
    education = draw_education(draw, wave, age, sex)
    region = draw_region(draw, wave, age, education)
    origin = draw_origin(draw, wave, age, region)
    marital = draw_marital(draw, wave, age, sex)
    household = draw_household(draw, wave, age, marital, region)
    occupation = draw_occupation(draw, wave, age, sex, education, region)
    remote = draw_remote(draw, wave, occupation, education)
    commute_km = draw_commute_km(draw, wave, region, occupation, remote)
    income = draw_income(draw, wave, age, sex, education, occupation)
    moved_in = draw_moved_in(draw, wave, age, origin, region)

    if age >= 15 and draw.chance(wave.forgotten * (2.0 if age >= 65 else 1.0)):
        education = None  # last of all: the answer is lost, its consequences are not
    return (age, sex, region, origin, education, marital, household, occupation, remote,
            commute_km, income, moved_in)


def draw_age(draw, wave):
    """A band of the age pyramid, then an age in it."""
    starts = [*wave.age_weights, MAX_AGE + 1]
    first = draw.pick(wave.age_weights)
    return draw.integer(first, starts[starts.index(first) + 1] - 1)


def draw_sex(draw, age):
    """Slightly more boys are born; women live longer."""
    return "F" if draw.chance(0.49 + 0.004 * max(0, age - 60)) else "M"


def draw_education(draw, wave, age, sex):
    """Later cohorts stay at school longer, women by now longer than men; the young are not done."""
    decades = (wave.day.year - age - 1960) / 10.0
    inclination = draw.logistic(0.35 * decades + (0.12 * decades if sex == "F" else 0.1), 1.0)
    level = 1 + bisect.bisect_right((-1.1, 0.7, 1.7), inclination)
    finished = bisect.bisect_right((15, 18, 20, 23), age)
    return EDUCATION[min(level, finished)]


def draw_region(draw, wave, age, education):
    """The capital draws young graduates, the islands of Halvora draw the retired."""
    weights = {"Alvessa": 24, "Brennick": 18, "Corvane": 11, "Dursk": 13,
               "Eldomar": 12, "Fenrith": 8, "Gostry": 9, "Halvora": 5}
    if education in ("college", "degree"):
        weights["Alvessa"] *= math.exp(wave.graduate_pull if age < 45 else 0.4)
        weights["Dursk"] *= 0.5
    if age >= 65:
        weights["Halvora"] *= 2.5
        weights["Fenrith"] *= 1.5
    return draw.pick(weights)


def draw_origin(draw, wave, age, region):
    """Born in this region, in another one, or abroad: the working ages are the ones that moved."""
    mobile = 0.4 if age < 15 else 1.4 if age < 45 else 1.0
    abroad = mobile * wave.newcomers.get(region, 0.04)
    elsewhere = mobile * {"Alvessa": 0.30, "Halvora": 0.32, "Corvane": 0.22}.get(region, 0.13)
    return draw.pick({"native": 1.0 - abroad - elsewhere, "elsewhere": elsewhere, "abroad": abroad})


def draw_marital(draw, wave, age, sex):
    """Nobody marries before 18; women marry two years younger and are widowed more often."""
    if age < 18:
        return "single"
    typical = wave.marriage_age + (-1.0 if sex == "F" else 1.0)
    if not draw.chance(0.88 * sigmoid((age - typical) / 4.0)):
        return "single"
    widowed = sigmoid((age - (81.0 if sex == "F" else 90.0)) / 6.0)
    divorced = (1.0 - widowed) * 0.24 * sigmoid((age - 38.0) / 6.0)
    return draw.pick({"married": 1.0 - widowed - divorced, "divorced": divorced,
                      "widowed": widowed})


def draw_household(draw, wave, age, marital, region):
    """Persons under one roof: parents and siblings, or a partner and children, or neither."""
    leaving_age = wave.leaving_age + (wave.city_delay if region == "Alvessa" else 0.0)
    if age < 18 or (marital == "single" and draw.chance(sigmoid((leaving_age - age) / 2.0))):
        adults = draw.pick({1: 0.16, 2: 0.84})
        return 1 + adults + draw.pick({0: 0.28, 1: 0.44, 2: 0.20, 3: 0.06, 4: 0.02})
    if marital == "married":
        return 2 + draw_children(draw, age - wave.marriage_age)
    alone = wave.old_alone if age >= 60 else 0.65
    return draw.pick({1: alone, 2: 0.72 * (1.0 - alone), 3: 0.28 * (1.0 - alone)})


def draw_children(draw, years_married):
    """Children still at home: they come soon after the wedding and leave after 25 years."""
    at_home = 0.85 * sigmoid((years_married - 1.0) / 2.0) * sigmoid((25.0 - years_married) / 3.0)
    return draw.pick({1: 0.36, 2: 0.44, 3: 0.15, 4: 0.05}) if draw.chance(at_home) else 0


# occupation -> weight, the level of education it asks for, log-odds of women over men, log-income
TRADES = {
    "farming": (7, 1, -0.6, -0.30),
    "building": (9, 2, -2.0, 0.02),
    "factory": (15, 1.5, -0.8, -0.02),
    "transport": (8, 1.5, -1.3, -0.04),
    "retail": (14, 1.5, 0.5, -0.22),
    "hospitality": (8, 1, 0.4, -0.36),
    "office": (15, 3, 0.6, 0.02),
    "care": (13, 3, 1.3, -0.06),
    "teaching": (9, 4, 0.9, 0.04),
    "technology": (9, 4, -1.0, 0.30),
    "management": (7, 4, -0.3, 0.42),
}

# region -> what it is known for, times its usual share
INDUSTRY = {
    "Alvessa": {"technology": 2.0, "management": 1.6, "office": 1.5, "farming": 0.05},
    "Brennick": {"factory": 1.7, "transport": 1.3, "farming": 0.2},
    "Corvane": {"hospitality": 3.0, "retail": 1.4},
    "Dursk": {"factory": 2.0, "building": 1.8, "technology": 0.4},
    "Eldomar": {"farming": 4.0, "technology": 0.4},
    "Fenrith": {"farming": 3.5, "care": 1.4, "technology": 0.3},
    "Gostry": {"transport": 3.5, "factory": 1.3, "retail": 1.3},
    "Halvora": {"farming": 2.0, "hospitality": 2.5, "care": 1.5, "factory": 0.3},
}


def draw_occupation(draw, wave, age, sex, education, region):
    """First whether to work at all (never before 15), then at what."""
    level = LEVEL[education]
    if age < 15 or not draw.chance(works(wave, age, sex, level)):
        return "none"
    weights = {}
    for name, (weight, asked, women, _) in TRADES.items():
        fit = -wave.education_sorting * abs(level - asked) + (women if sex == "F" else -women) / 2.0
        local = INDUSTRY[region].get(name, 1.0) * wave.boom.get((region, name), 1.0)
        weights[name] = weight * local * math.exp(fit)
    return draw.pick(weights)


def works(wave, age, sex, level):
    """The chance to have paid work: after school, until a pension, more with more schooling."""
    usual = 0.66 + 0.06 * level + wave.women_at_home * (-0.5 if sex == "F" else 0.5)
    return usual * sigmoid((age - 20.0) / 1.8) * sigmoid((wave.pension_age - age) / 1.6)


def draw_remote(draw, wave, occupation, education):
    """Works from home some days; empty without work."""
    if occupation == "none":
        return None
    share = wave.remote.get(occupation, 0.02)
    return draw.chance(share * (0.7 + 0.1 * LEVEL[education]))


def draw_commute_km(draw, wave, region, occupation, remote):
    """One way, one decimal; empty without work, and sometimes forgotten."""
    if occupation == "none" or draw.chance(wave.forgotten):
        return None
    typical = wave.typical_km.get(region, USUAL_KM)
    if occupation == "farming":
        typical *= 0.15
    if remote:
        typical *= wave.remote_stretch
    return min(round(math.exp(draw.logistic(math.log(typical), 0.4)), 1), MAX_COMMUTE_KM)


def draw_income(draw, wave, age, sex, education, occupation):
    """Crowns a year, from work, a pension or an allowance; N for children; may be refused."""
    if age < 15:
        return NOT_APPLICABLE
    level = LEVEL[education]
    if occupation != "none":
        career = wave.career * (min(1.0, (age - 15) / 30.0) - 0.75)
        schooling = wave.education_return * (level - 2.5)
        gap = wave.sex_gap * (-0.5 if sex == "F" else 0.5)
        centre = 10.15 + career + TRADES[occupation][3] + schooling + gap
        log_income = draw.logistic(centre, 0.17)
    elif age >= 60:
        centre = 9.60 + wave.pension_slope * (level - 2) - (0.15 if sex == "F" else 0.0)
        log_income = draw.logistic(centre, 0.13)
    elif draw.chance(0.35):
        return 0
    else:
        log_income = draw.logistic(8.5 if age < 25 else 8.9, 0.25)
    income = min(math.exp(log_income), MAX_INCOME)
    if draw.chance(wave.refusal * (2.5 if income >= 40_000 else 1.0)):
        return None
    return wave.income_step * int(income / wave.income_step)


def draw_moved_in(draw, wave, age, origin, region):
    """The day one moved into the present home: at the latest today, at the earliest at birth."""
    if draw.chance(wave.forgotten):
        return None
    typical = wave.years_at_home + wave.settling * max(0, age - 18)
    if origin != "native":
        typical *= 0.6
    if region == "Alvessa":
        typical /= wave.city_churn
    years = draw.exponential(typical)
    lived = age + draw.uniform()
    return wave.day - timedelta(days=int(365.25 * min(years, lived)))


# ---- Chance ----------------------------------------------------------------------------------


class Draw:
    """Draws by inverse CDF from random() alone, whose stream is the same in all Pythons."""

    def __init__(self, seed):
        self.uniform = random.Random(seed).random

    def chance(self, probability):
        return self.uniform() < probability

    def integer(self, first, last):
        return first + int(self.uniform() * (last - first + 1))

    def pick(self, weights):
        """A key of `weights`, in proportion to its weight."""
        left = self.uniform() * math.fsum(weights.values())  # sum() differs between Pythons
        for value, weight in weights.items():
            left -= weight
            if left < 0.0:
                return value
        return value  # rounding can leave a hair beyond the last

    def logistic(self, centre, scale):
        """A bell with a closed inverse; its exponential is a fair distribution of incomes."""
        u = max(self.uniform(), 1e-12)
        return centre + scale * math.log(u / (1.0 - u))

    def exponential(self, mean):
        return -mean * math.log(1.0 - self.uniform())


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


# ---- Files -----------------------------------------------------------------------------------


def text(value):
    """A cell: null is empty, a boolean is true or false, a decimal has one digit."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.1f}"
    return str(value)  # a date prints as YYYY-MM-DD


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(column.name for column in COLUMNS)
        writer.writerows(rows)


def write_wave(folder, name, wave, rows, seed):
    draw = Draw(seed)
    people = [person(draw, wave) for _ in range(rows)]
    write_csv(folder / f"{name}.csv", ([text(v) for v in row] for row in people))
    write_csv(folder / f"{name}-coded.csv",
              ([c.code(v) for c, v in zip(COLUMNS, row)] for row in people))


def write_domain(path):
    with open(path, "w", newline="\n", encoding="utf-8") as file:
        json.dump({column.name: column.size for column in COLUMNS}, file, indent=2)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write to")
    parser.add_argument("--rows", type=int, default=DEFAULT_ROWS, metavar="N",
                        help="rows of the register; the survey has a quarter (default %(default)s)")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="N",
                        help="same seed, same files (default %(default)s)")
    args = parser.parse_args()
    if args.rows < 4:
        parser.error(f"--rows is {args.rows}; choose at least 4")
    if args.seed < 0:
        parser.error(f"--seed is {args.seed}; choose 0 or more")

    args.out.mkdir(parents=True, exist_ok=True)
    write_wave(args.out, "public", SURVEY, args.rows // 4, 2 * args.seed)
    write_wave(args.out, "private", REGISTER, args.rows, 2 * args.seed + 1)
    write_domain(args.out / "domain.json")


if __name__ == "__main__":
    main()

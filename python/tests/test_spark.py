# SPDX-License-Identifier: Apache-2.0
"""Rows on a cluster: executors in processes of their own, a standalone master with two workers, and
Spark Connect. Each kind runs once, in a process of its own (spark_cases.py); here is what must hold
of what it found. With TANDEM_WHOLE set, as './run check' does, all cases run: some take minutes."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("pyspark", reason="pyspark is missing")

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(os.environ.get("TANDEM_DATA", "/nowhere"))
KINDS = ["cluster", "standalone", "connect"]
WHOLE = bool(os.environ.get("TANDEM_WHOLE"))
REAL = ["titanic", "acs"] if (DATA / "jam").exists() else []
BRIEF = {"cluster": ["same", *REAL, "persons", "answers", "results", "killed", "made", "odd", "stopped"],
         "standalone": ["same"], "connect": ["same"]}
needs_data = pytest.mark.skipif(not (DATA / "jam" / "titanic").exists(),
                                reason="TANDEM_DATA has no titanic")


class Found:
    """What each kind of cluster gave, run when it is first asked for."""

    def __init__(self, folder):
        self.folder = folder
        self.kinds = {}

    def __getitem__(self, kind):
        if kind not in self.kinds:
            folder = self.folder / kind
            folder.mkdir()
            with open(folder / "output", "w", encoding="utf-8") as output:
                names = [] if WHOLE else BRIEF.get(kind, [])
                subprocess.run([sys.executable, HERE / "spark_cases.py", kind, folder, *names],
                               stdout=output, stderr=output, timeout=900, check=False)
            told = folder / "found.json"
            self.kinds[kind] = json.loads(told.read_text()) if told.exists() else {}
        return self.kinds[kind]

    def case(self, kind, name):
        if not WHOLE and kind in BRIEF and name not in BRIEF[kind]:
            pytest.skip("it takes long: a part of ./run check")
        found = self[kind].get(name)
        assert found is not None, (self.folder / kind / "output").read_text()[-3000:]
        assert "failed" not in found, found["failed"]
        return found

    def log(self, kind):
        """The cluster's events."""
        files = [one for one in (self.folder / kind / "spark.eventLog.dir").iterdir() if one.is_file()]
        return [json.loads(line) for one in files for line in one.read_text().splitlines()]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return Found(tmp_path_factory.mktemp("spark"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_seeded_release_is_that_of_the_csv(found, kind):
    case = found.case(kind, "same")
    assert case["spark"] == case["divided"] == case["csv"]


@needs_data
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["titanic", "acs"])
def test_real_tables_give_the_release_of_their_csv(found, kind, name):
    case = found.case(kind, name)
    assert case["spark"] == case["divided"] == case["csv"]


@pytest.mark.parametrize("kind", ["cluster", "connect"])
def test_persons_with_a_skew_are_bounded_as_in_one_process(found, kind):
    case = found.case(kind, "persons")
    assert case["spark"] == case["divided"] == case["csv"]


def test_answers_are_those_of_the_csv(found):
    case = found.case("cluster", "answers")
    assert case["spark"] == case["csv"] and "sex=F" in case["csv"]


def test_only_counts_come_back(found):
    case = found.case("cluster", "results")
    assert case["rows"] == 1_000_000
    jobs, within, sizes = {}, False, {}
    for event in found.log("cluster"):
        if event["Event"] == "SparkListenerJobStart":
            told = event.get("Properties", {}).get("spark.job.description") or ""
            within = "begins" in told or (within and "ends" not in told)
            for stage in event["Stage IDs"]:
                jobs[stage] = told if within else ""
        elif event["Event"] == "SparkListenerTaskEnd" and "Task Metrics" in event:
            told = jobs[event["Stage ID"]]
            if told.startswith("tandem: "):
                sizes.setdefault(told, []).append(event["Task Metrics"]["Result Size"])
    assert set(sizes) == {"tandem: encoding rows", "tandem: counting"}
    # A task's result has about 4 kB of metrics beside what it gives. The codes alone are 12 bytes a
    # row: all that came back is less than those of one row in fifty.
    came_back = sum(map(sum, sizes.values()))
    assert came_back < 12 * case["rows"] / 50, sizes


def test_one_pass_costs_less_than_a_tenth_of_all_group_bys(found):
    case = found.case("cluster", "cost")
    assert case["asked"] == 286 and set(case["sums"]) == {case["rows"]}
    assert case["pairs and triples"] < case["4 GROUP BY"] / 4 * case["asked"] / 10, case


@pytest.mark.parametrize("kind", ["cluster", "standalone"])
def test_an_executor_that_is_killed_changes_nothing(found, kind):
    case = found.case(kind, "killed")
    assert case["struck"] == 1 and case["before"] != case["after"]
    assert case["spark"] == case["csv"]


def test_a_speculative_copy_changes_nothing(found):
    case = found.case("standalone", "speculative")
    assert case["spark"] == case["csv"]
    assert any(event.get("Task Info", {}).get("Speculative") for event in found.log("standalone"))


def test_coded_rows_in_a_folder_are_found_again_and_removed(found):
    case = found.case("standalone", "folder")
    assert case["died"] == 9 and case["left"] == [["begun", "blocks", "whole"]]
    assert "belongs to another run" in case["refused"][1]
    assert case["spark"] == case["csv"] and case["gone"]
    assert case["kept"] == "years of work" and "can't be looked into" in case["forbidden"][1]


def test_rows_that_are_lost_for_good_stop_the_run_and_a_resume_finishes(found):
    case = found.case("cluster", "lost")
    kind, told, unchained = case["refused"]
    assert kind == "SourceError" and unchained
    assert "resume=True" in told and "lost the executors" in told
    assert [one["state"] for one in case["held"]["runs"]] == ["open"]
    assert [one["state"] for one in case["ledger"]["runs"]] == ["settled"]
    assert case["held"]["reserved"] == case["ledger"]["spent"] and case["rows"] == 20_000


@pytest.mark.parametrize("kind", ["cluster", "connect"])
def test_an_interrupt_cancels_the_job_and_says_what_is_reserved(found, kind):
    case = found.case(kind, "stopped")
    assert case["refused"][0] == "KeyboardInterrupt"
    assert "of the budget is spent" in case["refused"][1] and "resume=True" in case["refused"][1]
    assert case["spark"] == case["csv"]


SENTENCES = {
    "nested": ("UsageError", "column 'sex' of type array<string>"),
    "binary": ("UsageError", "column 'sex' of type binary"),
    "missing": ("UsageError", "no column 'sex'"),
    "streaming": ("UsageError", "a streaming DataFrame"),
    "fickle": ("SourceError", "other rows each time"),
    "failing": ("SourceError", "a job failed"),
    "empty": ("UsageError", "no rows"),
    "rand": ("UsageError", "the same rows twice"),
    "evaluate": ("UsageError", "would have to leave the cluster"),
    "coded": ("UsageError", "coded is of a Spark DataFrame"),
}


@pytest.mark.parametrize("kind", ["cluster", "connect"])
@pytest.mark.parametrize("name", SENTENCES)
def test_what_cannot_be_read_is_one_sentence_and_spends_nothing(found, kind, name):
    case = found.case(kind, "odd")
    if name == "rand" and kind == "connect":
        assert name not in case["refused"]  # its plan can not be looked at from there
        return
    raised, told, unchained = case["refused"][name]
    expected, part = SENTENCES[name]
    assert raised.startswith(expected) and part in told
    assert unchained and "secret" not in told
    assert case["ledger"]["spent"]["epsilon"] == case["ledger"]["reserved"]["epsilon"] == 0


@pytest.mark.parametrize("name, part", [("driver", "spark.driver.maxResultSize"),
                                        ("library", "can't load tandem's library"),
                                        ("pyarrow", "PYSPARK_PYTHON")])
def test_what_a_session_lacks_is_named(found, name, part):
    raised, told, unchained = found.case("narrow", name)
    assert raised == "SourceError" and part in told and unchained


@pytest.mark.parametrize("kind", ["cluster", "connect"])
def test_rows_are_made_on_the_executors(found, kind):
    case = found.case(kind, "made")
    assert case["count"] == case["folder"] == case["in_folder"] == 20_000
    assert case["repeats"] and case["some"] > 2_000 and case["sexes"] == ["F", "M"]
    assert case["types"]["age"] == "bigint" and case["types"]["moved_in"] == "date"
    assert case["like"]["age"] == "smallint" and case["like"]["moved_in"] == "date"

# SPDX-License-Identifier: Apache-2.0
"""Plans, answers, numbers, estimates: what can be asked, and what is said when it can't."""
import itertools
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import types

import pandas
import polars
import pytest

import tandem

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "build" / "sample"
SCHEMA = ROOT / "examples" / "population" / "schema.toml"
TABLES = ROOT / "examples" / "population" / "tables.toml"


@pytest.fixture(scope="module")
def private():
    return pandas.read_csv(SAMPLE / "private.csv")


@pytest.fixture(scope="module")
def release(private):
    return tandem.synthesize(private, schema=SCHEMA, epsilon=3, mechanism="aim", seed=1,
                             workload="all-2way")


def test_a_plan_says_what_it_costs_for_each_epsilon():
    planned = tandem.plan(schema=SCHEMA, public=SAMPLE / "public.csv", private_rows=120_000,
                          epsilon=[0.3, 1, 3])
    rows = planned.rows
    assert [one["epsilon"] for one in rows] == [0.3, 1, 3]
    assert rows[0]["noise"] > rows[1]["noise"] > rows[2]["noise"]
    assert all(one["memory"] > 1e6 and one["minutes"] > 0 and one["error"] is None for one in rows)
    shown = repr(planned)
    assert "noise of a count" in shown and "expected rmse" not in shown and len(planned.frame()) == 3
    assert "<table>" in planned._repr_html_() and "Nothing was spent" in planned.text
    answers = tandem.plan(schema=SCHEMA, private_rows=20_000, epsilon=1, answers=True, workload=TABLES)
    assert 0.0008 < answers.rows[0]["error"] < 0.0009  # rmse 17.42 of 20,000 rows


def test_a_plan_knows_the_ledger_and_the_number_of_rows(tmp_path):
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=1)
    planned = tandem.plan(schema=SCHEMA, epsilon=[0.5, 2], private_rows=1000, ledger=ledger)
    assert [one["accepted"] for one in planned.rows] == [True, False]
    for more, said in (({"epsilon": -1}, "epsilon"), ({"epsilon": []}, "empty"),
                       ({"epsilon": 1, "schema": None}, "schema is missing")):
        with pytest.raises(tandem.UsageError) as caught:
            tandem.plan(**{"schema": SCHEMA, **more})
        assert said in str(caught.value) and "--" not in str(caught.value)


def test_answers_have_error_bars_and_a_target(private, tmp_path):
    release = tandem.answer(private, schema=SCHEMA, workload=TABLES, epsilon=1, seed=1,
                            out=tmp_path / "tables")
    found = release.answers
    assert list(found.columns) == ["query", "estimate", "stddev", "ci95_low", "ci95_high"]
    assert len(found) == 520 and (found.stddev > 0).all()
    truth = (private.age < 15) & (private.sex == "F")
    assert abs(found.estimate[0] - truth.sum()) < 5 * found.stddev[0]
    near = tandem.answer(private, schema=SCHEMA, workload=TABLES, target_error=0.001,
                         private_rows=20_000, seed=1)
    assert 0.8 < near.guarantee["epsilon"] < 0.95
    with pytest.raises(tandem.UsageError, match="may be spent"):
        tandem.answer(private, schema=SCHEMA, workload=TABLES, target_error=0.001, epsilon=0.5,
                      private_rows=20_000, seed=1)
    with pytest.raises(tandem.UsageError, match="target_error"):
        tandem.answer(private, schema=SCHEMA, workload=TABLES)
    with pytest.raises(tandem.UsageError, match="release of rows|no rows"):
        release.rows
    assert "answers 520" in repr(release)
    assert (tandem.open_release(tmp_path / "tables").answers.to_pandas() == found).all(axis=None)


def test_numbers_of_a_release(private, release):
    sex = release.marginal("sex")
    assert list(sex.columns) == ["sex", "estimate", "stddev", "ci95_low", "ci95_high"]
    assert (abs(sex.estimate - private.sex.value_counts()[sex.sex].values) < 5 * sex.stddev).all()
    model = release.marginal("sex", model=True)
    assert model.stddev.isna().all() and abs(model.estimate.sum() - 20_000) < 1e-3
    # Columns stand as they were asked for, whichever the schema's order is.
    one, other = release.marginal(["age", "sex"]), release.marginal(["sex", "age"])
    assert list(other.columns[:2]) == ["sex", "age"] and list(other.sex[:2]) == ["F", "F"]
    joined = one.merge(other, on=["age", "sex"])
    assert (joined.estimate_x == joined.estimate_y).all() and len(joined) == 20
    by_sex = release.answer(tandem.Workload.ranges("age", by="sex"))
    assert len(by_sex) == 110 and by_sex["query"][0] == "age by sex: age=0 to 14 & sex=F"
    with pytest.raises(tandem.UsageError, match="columns names 'nothing'"):
        release.marginal("nothing")
    with pytest.raises(tandem.UsageError, match="release of rows"):
        release.answers


def test_numbers_are_the_kind_of_frame_that_came_in():
    people = {"a": [0, 1, 1] * 50, "b": [1, 0, 1] * 50}
    schema = tandem.Schema.draft({"a": [0, 1, 0, 1], "b": [1, 0, 1, 0]})
    for frame, kind in ((people, dict), (polars.DataFrame(people), polars.DataFrame),
                        (pandas.DataFrame(people), pandas.DataFrame)):
        made = tandem.synthesize(frame, schema=schema, epsilon=1, seed=1, mechanism="independent")
        assert isinstance(made.marginal("a"), kind)
    numbers = tandem.open_release(made.path).marginal("a")
    assert isinstance(numbers, tandem.Numbers) and len(numbers) == 2 and numbers["a"] == ["0", "1"]
    assert numbers.to_arrow().num_rows == 2 and "<table>" in numbers._repr_html_()
    assert numbers.to_polars().columns == numbers.columns == list(numbers.to_dict())


def test_workloads(tmp_path, private):
    for workload, shown in ((tandem.Workload.all_kway(2), "all-2way"),
                            (tandem.Workload.random_kway(3, 7, seed=2), "random-3way:7:2"),
                            (tandem.Workload.ranges("age"), "all-range:age")):
        assert shown in repr(workload)
        assert tandem.plan(schema=SCHEMA, epsilon=1, workload=workload, answers=True).rows
        with pytest.raises(tandem.UsageError, match="is a name"):
            workload.save(tmp_path / "w.toml")
    listed = tandem.Workload.from_marginals([["age", "sex"], "region"], weights=[1, 2])
    for name in ("w.toml", "w.json"):
        listed.save(tmp_path / name)
        assert tandem.Workload.read(tmp_path / name).document == listed.document
    tables = tandem.Workload.read(TABLES)
    tables.save(tmp_path / "tables.toml")
    assert tandem.Workload.read(tmp_path / "tables.toml").document == tables.document
    rmse = {tandem.plan(schema=SCHEMA, epsilon=1, answers=True, workload=one).rows[0]["error"]
            for one in (tables, TABLES, tmp_path / "tables.toml")}
    assert len(rmse) == 1
    for wrong in (lambda: tandem.Workload.all_kway(0), lambda: tandem.Workload.random_kway(2, 1.5),
                  lambda: tandem.Workload.from_marginals([["a"]], weights=[1, 2]),
                  lambda: tandem.Workload.read(tmp_path / "nothing.toml"),
                  lambda: tandem.plan(schema=SCHEMA, epsilon=1, workload=7)):
        with pytest.raises(tandem.Error):
            wrong()


class LinearMeasurement:
    """As private-pgm has it."""

    def __init__(self, noisy_measurement, clique, stddev, name="datavector"):
        self.noisy_measurement, self.clique, self.stddev = noisy_measurement, clique, stddev
        self.query = types.SimpleNamespace(__name__=name)


def test_measurements_of_private_pgm_are_estimated():
    # Two measured pairs that share a column: the model is the product over it.
    truth = {(a, b, c): 100 * (1 + a) * (1 + (a ^ b)) * (1 + 2 * (b ^ (c > 0)))
             for a, b, c in itertools.product(range(2), range(2), range(3))}

    def table(axes):
        sizes = [(2, 2, 3)[axis] for axis in axes]
        return [float(sum(count for cell, count in truth.items()
                          if [cell[axis] for axis in axes] == list(wanted)))
                for wanted in itertools.product(*map(range, sizes))]

    domain = types.SimpleNamespace(attributes=("a", "b", "c"), shape=(2, 2, 3))
    measured = [LinearMeasurement(table((1, 0)), ("b", "a"), 1.0),  # not in the domain's order
                LinearMeasurement(table((1, 2)), ("b", "c"), 1.0)]
    model = tandem.estimate(domain, measured)
    assert abs(model.total - sum(truth.values())) < 1e-6
    assert model.marginal(["a", "b", "c"])["estimate"] == pytest.approx(
        [truth[cell] for cell in itertools.product(range(2), range(2), range(3))], rel=1e-3)
    # Two measured numbers make one of 'a', and what is known of 'b' makes it a little better.
    assert 0.9 < model.marginal("a", model=False)["stddev"][0] < 2 ** 0.5
    assert len(model.answer("all-2way")) == 2 * 2 + 2 * 3 + 2 * 3
    rows = model.sample(500, seed=1)
    assert len(rows) == 500 and rows.columns == ["a", "b", "c"] and set(rows["c"]) <= {0, 1, 2}
    # Older tuples, with a matrix.
    older = tandem.estimate({"a": 2, "b": 2, "c": 3}, [
        (None, [1000.0, 3000.0], 1.0, ("a",)),
        ([[1, 1, 0], [0, 0, 1]], [1000.0, 3000.0], 1.0, ("c",))],
                            total=4000)
    assert older.marginal("c")["estimate"][2] == pytest.approx(0.75 * older.total, rel=1e-2)


@pytest.mark.parametrize("measured, said", [
    ([], "is empty"), ([7], "LinearMeasurement"), ([(None, [1.0], 1.0, ("a",))], "2 were expected"),
    ([(None, [1.0, 2.0], 1.0, ("x",))], "'x'"), ([([[0.5, 1]], [1.0], 1.0, ("a",))], "whole numbers"),
    ([LinearMeasurement([1.0, 2.0], ("a",), 1.0, "mine")], "query of its own"),
])
def test_measurements_that_make_no_sense_are_one_sentence(measured, said):
    with pytest.raises(tandem.UsageError) as caught:
        tandem.estimate({"a": 2}, measured)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_measurements_of_several_releases_are_put_together(release):
    model = tandem.estimate(SCHEMA, release.measurements)
    sex = model.marginal("sex")
    assert abs(sum(sex["estimate"]) - 20_000) < 500


def test_an_evaluation_has_tables_and_a_page(private, release, tmp_path):
    found = tandem.evaluate(private, release, internal=True, group_by=["sex"])
    assert found["avg_workload_error"] < 1 and "columns" in found and "INTERNAL" in repr(found)
    assert found.errors["error"][0] == "avg_workload_error" and len(found.columns) == 12
    assert len(found.pairs) == 66 and found.groups["sex"] == ["F", "M"]
    assert set(found.quantiles["rows"]) == {"real", "synthetic"}
    assert len(found.pairs.to_pandas()) == 66
    found.report(tmp_path / "INTERNAL.html")
    page = (tmp_path / "INTERNAL.html").read_text(encoding="utf-8")
    assert "INTERNAL" in page and page.count("<table>") == 5


def test_a_synthesizer_has_scikit_learns_shape(private):
    made = tandem.Synthesizer("mst", epsilon=1, schema=SCHEMA, seed=1)
    parameters = made.get_params()
    assert parameters["epsilon"] == 1 and "release_" not in parameters
    assert "random_state" not in parameters
    twin = tandem.Synthesizer(**parameters)
    assert twin.get_params() == parameters and "seed=1" in repr(made)
    assert made.set_params(epsilon=2) is made and made.get_params()["epsilon"] == 2
    with pytest.raises(tandem.UsageError, match="no parameter"):
        made.set_params(nothing=1)
    with pytest.raises(tandem.UsageError, match="not fitted"):
        made.sample(3)
    assert made.fit(private) is made and len(made.sample(5)) == 5
    assert made.get_params() == {**parameters, "epsilon": 2}
    assert len(made.marginal("sex")) == 2 and len(made.answer("all-1way")) > 2


def test_a_fit_that_was_stopped_goes_on(private, tmp_path):
    class Enough(Exception):
        pass

    def told(event):
        if event.get("step", 0) >= 3:
            raise Enough
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=2)
    made = tandem.Synthesizer("aim", epsilon=1, schema=SCHEMA, workload="all-2way", ledger=ledger)
    with pytest.raises(Enough):
        made.fit(private, out=tmp_path / "out", progress=told)
    assert made.fit(private, out=tmp_path / "out", resume=True).release_.document["rows"] == 20_000
    assert len(ledger.show()["runs"]) == 1


def test_a_schema_tells_its_rules_and_its_domain():
    schema = tandem.Schema.read(SCHEMA)
    assert list(schema.domain) == schema.names and schema.domain["sex"] == 2
    assert all(rule["if"] and rule["then"] for rule in schema.rules) and schema.rules
    assert isinstance(schema["age"], tandem.Column)


def counting(frame):
    """Rows of a query, and how often they were fetched."""
    connection = sqlite3.connect(":memory:")
    frame.to_sql("people", connection, index=False)
    asked = []

    class Connection:
        def cursor(self):
            asked.append("cursor")
            return connection.cursor()
    return tandem.source(Connection(), "select * from people"), asked


def test_a_wrong_call_is_refused_before_a_row_is_read(private, tmp_path):
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=0.5)
    before = str(ledger.show())
    (tmp_path / "taken").mkdir()
    rows, asked = counting(private.head(100))
    for error, said, more in ((tandem.UsageError, "epsilon", {"epsilon": -1}),
                              (tandem.UsageError, "mechanism", {"mechanism": "nothing"}),
                              (tandem.BudgetError, "asks for epsilon 1", {"ledger": ledger}),
                              (tandem.BudgetError, "seeded", {"ledger": ledger, "seed": 1}),
                              (tandem.UsageError, "exists", {"out": tmp_path / "taken"})):
        with pytest.raises(error, match=said):
            tandem.synthesize(rows, **{"schema": SCHEMA, "epsilon": 1, **more})
    assert asked == [] and str(ledger.show()) == before
    assert tandem.synthesize(rows, schema=SCHEMA, epsilon=1, mechanism="independent", rows=5)
    assert asked == ["cursor"]


def test_answers_with_a_target_can_be_resumed(private, tmp_path):
    class Enough(Exception):
        pass

    def told(event):
        if event.get("step", 0) >= 2:
            raise Enough
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=3)
    run = dict(schema=SCHEMA, workload=TABLES, target_error=0.001, private_rows=20_000,
               ledger=ledger, out=tmp_path / "out")
    with pytest.raises(Enough):
        tandem.answer(private, progress=told, **run)
    release = tandem.answer(private, resume=True, **run)
    assert 0.8 < release.guarantee["epsilon"] < 0.95 and len(ledger.show()["runs"]) == 1


@pytest.mark.parametrize("wrong, said", [
    ({"epsilon": float("nan")}, "epsilon is nan; give a number"),
    ({"epsilon": "a lot"}, "epsilon is 'a lot'"), ({"delta": None}, "delta is None"),
    ({"ledger": 3}, "ledger is 3; give a tandem.Ledger"), ({"rows": 1.7}, "rows is 1.7"),
    ({"private": {"a": 1}}, "a column that is no list"),
    ({"private": pandas.Series([1, 2])}, "is a pandas.Series"),
    ({"out": 3}, "out is 3"), ({"seed": float("inf")}, "finite number"),
])
def test_a_wrong_argument_is_named(private, wrong, said):
    with pytest.raises(tandem.UsageError) as caught:
        tandem.synthesize(**{"private": private, "schema": SCHEMA, "epsilon": 1, **wrong})
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_what_is_found_names_no_temporary_file(private):
    found = tandem.check(private.head(50), schema=SCHEMA)
    assert "the private data" in found["text"] and "/proc" not in found["text"]


def test_latin_bytes_that_stand_for_nothing_come_back(tmp_path):
    (tmp_path / "p.csv").write_bytes(b"a\n" + b"\x81\n\x80\n\xe9\n" * 20)
    schema = tandem.Schema('format = 1\n[csv]\nencoding = "latin-1"\n[[column]]\nname = "a"\n'
                           'values = ["\x81", "\u20ac", "\u00e9"]\n')
    release = tandem.synthesize(tmp_path / "p.csv", schema=schema, epsilon=100, seed=1,
                                mechanism="independent")
    assert set(release.rows["a"]) == {"\x81", "\u20ac", "\u00e9"}
    from tandem._made import batches_of
    from tandem._objects import columns_of_schema
    (batch,) = batches_of(release.path / "synthetic.csv", {"encoding": "latin-1"},
                          columns_of_schema(schema.document), {"a": "string"})
    assert set(batch.column(0).to_pylist()) == set(release.rows["a"])


def test_numbers_of_numpy_are_numbers_and_no_rows_are_none(release, tmp_path):
    import numpy
    assert len(release.sample(numpy.int64(7), seed=numpy.int64(3))) == 7
    assert tandem.plan(schema=SCHEMA, epsilon=numpy.float32(1), private_rows=numpy.int32(100),
                       rows_per_person=numpy.int64(1), parameters={"rounds-per-column": numpy.int64(3)},
                       mechanism="aim").rows
    with pytest.raises(tandem.UsageError, match="rows is 0"):
        release.sample(0)
    with pytest.raises(tandem.SourceError, match="can't be written"):
        release.schema.save(tmp_path / "nowhere" / "schema.toml")


def test_a_run_without_out_that_was_stopped_keeps_what_it_paid_for(private, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    class Enough(Exception):
        pass

    steps = []

    def told(event):
        steps.append(event.get("step", 0))
        if steps[-1] >= 3:
            raise Enough()

    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=2)
    run = dict(schema=SCHEMA, epsilon=1, mechanism="aim", ledger=ledger, workload="all-2way")
    with pytest.raises(Enough) as caught:
        tandem.synthesize(private, progress=told, **run)
    (said,) = getattr(caught.value, "__notes__", None) or ["out='nowhere'"]
    if sys.version_info >= (3, 11):
        assert "resume=True" in said and "--" not in said and "out=" in said, said
        out = said.partition("out='")[2].partition("'")[0]
        release = tandem.synthesize(private, resume=True, out=out, **run)
        assert release.document["rows"] == 20_000 and len(ledger.show()["runs"]) == 1


STOPPED = """
import sys, tandem
def told(event):
    print(event.get("stage"), flush=True)
ledger = tandem.Ledger.create({ledger!r}, dataset="d", epsilon=2)
frame = __import__("pandas").read_csv({private!r})
run = dict(schema={schema!r}, epsilon=1, mechanism="aim", workload="all-2way", ledger=ledger,
           out={out!r})
try:
    tandem.synthesize(frame, progress=told, **run)
except KeyboardInterrupt:
    print("stopped", flush=True)
before = ledger.show()
release = tandem.synthesize(frame, resume=True, **run)
print("rows", release.document["rows"], len(ledger.show()["runs"]), flush=True)
"""


def test_ctrl_c_stops_a_run_and_a_resume_finishes_it(tmp_path):
    script = STOPPED.format(ledger=str(tmp_path / "l"), private=str(SAMPLE / "private.csv"),
                            schema=str(SCHEMA), out=str(tmp_path / "out"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(
        [str(pathlib.Path(tandem.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])}
    running = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.PIPE, env=environment)
    heard = [running.stdout.readline() for _ in range(3)]
    running.send_signal(signal.SIGINT)
    out, err = running.communicate()
    assert heard[0] == "measuring\n" and "stopped" in out, err
    assert out.splitlines()[-1] == "rows 20000 1", (running.returncode, err)

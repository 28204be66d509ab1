# SPDX-License-Identifier: Apache-2.0
"""A real PostgreSQL on loopback: the same codes, and nothing left behind when it stops."""
import logging
import os
import pathlib
import tempfile
import threading
import time
import traceback

import pandas
import pytest

import tandem

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "Anna-Planted-4711"  # a private value, in a column of the schema and in another one
SCHEMA = """
format = 1
[[column]]
name = "select"
values = ["a,b", "say \\"x\\"", "two\\nlines", "Łódź", "1.0", "24"]
null = ""
other = "another"
[[column]]
name = "grade"
size = 4
null = true
[[column]]
name = "paid"
kind = "boolean"
values = ["no", "yes"]
null = ""
[[column]]
name = "km"
kind = "real"
min = 0
max = 10
edges = [2.5, 5]
decimals = 1
[[column]]
name = "seen"
kind = "date"
pattern = "%d.%m.%Y"
min = "01.01.2020"
max = "31.12.2020"
bins = "month"
null = ["refused", "-"]
[csv]
records = "quoted"
"""
WORDS = ["a,b", 'say "x"', "two\nlines", "Łódź", None, "24", NAME]


def schema():
    return tandem.Schema(SCHEMA)


def released(private, **more):
    return tandem.synthesize(private, **{**dict(schema=schema(), epsilon=3, mechanism="mst", seed=3),
                                      **more})


def digest(release):
    return [(release.path / name).read_bytes() for name in ("synthetic.csv", "measurements.json")]


@pytest.fixture(scope="module")
def people(postgres):
    """120,000 rows: more than one batch, so that a server can stop between two."""
    with postgres.connect() as connection:
        connection.execute(
            'create table people (id serial, secret text, "select" text, grade smallint, paid boolean, '
            "km numeric(5, 1), seen date)")
        connection.execute(
            'insert into people (secret, "select", grade, paid, km, seen) '
            "select %s || at, (%s::text[])[1 + at %% 7], nullif(at %% 5, 4), "
            "case at %% 3 when 0 then true when 1 then false end, (at %% 110) / 10.0, "
            "case when at %% 11 > 0 then date '2020-01-01' + at %% 366 end "
            "from generate_series(1, 120000) as at", (NAME, WORDS))
    return postgres


QUERY = "select * from people order by id"


@pytest.fixture(scope="module")
def as_csv(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    with people.connect() as connection:
        rows = connection.execute(QUERY).fetchall()
        names = [column.name for column in connection.execute(QUERY + " limit 1").description]
    texts = {name: [text_of(name, cell) for cell in column] for name, column in zip(names, zip(*rows))}
    pandas.DataFrame(texts).to_csv(path, index=False)
    return path


def text_of(name, cell):
    if name == "seen":
        return "refused" if cell is None else cell.strftime("%d.%m.%Y")
    if name == "paid":
        return {None: "", True: "yes", False: "no"}[cell]
    return "" if cell is None else str(cell)


def test_a_query_has_the_codes_of_a_file(people, as_csv):
    with people.connect() as connection:
        rows = tandem.source(connection, QUERY, name="register")
        assert digest(released(rows)) == digest(released(as_csv))
        # No pair of columns counts otherwise, so the codes are the same row by row.
        assert tandem.evaluate(rows, as_csv, schema=schema(), workload="all-3way",
                               internal=True)["avg_workload_error"] == 0
        assert people.PASSWORD not in repr(rows)


def test_what_a_server_says_is_not_shown(people):
    with people.connect() as connection, pytest.raises(tandem.SourceError) as caught:
        released(tandem.source(connection, "select 1 / (id - 7) from people"))
    assert "division" not in str(caught.value) and "id - 7" not in str(caught.value)
    assert caught.value.__context__ is None


class StoppingAfter:
    """A connection whose server is stopped once so many batches were fetched."""

    def __init__(self, connection, server, batches):
        self.connection, self.server, self.left = connection, server, batches
        self.__class__.__module__ = type(connection).__module__  # it passes for psycopg's

    def cursor(self, name=None):
        outer, cursor = self, self.connection.cursor(name)

        class Cursor:
            description = property(lambda self: cursor.description)
            execute, close = cursor.execute, cursor.close

            def fetchmany(self, rows):
                if outer.left == 0:
                    outer.server.stop()
                outer.left -= 1
                return cursor.fetchmany(rows)
        return Cursor()


def test_a_server_that_stops_in_the_middle(people, as_csv, tmp_path):
    ledger = tandem.Ledger.create(tmp_path / "ledger", dataset="register", epsilon=2)
    before = ledger.show()
    stopping = StoppingAfter(people.connect(), people, 1)
    run = dict(ledger=ledger, seed=None, epsilon=1, out=tmp_path / "release")
    try:
        with pytest.raises(tandem.SourceError) as caught:
            released(tandem.source(stopping, QUERY, name="register"), **run)
        said = "".join(traceback.format_exception(caught.value))
        assert "could not be read" in str(caught.value) and "\n" not in str(caught.value)
        assert people.PASSWORD not in said and NAME not in said and caught.value.__context__ is None
    finally:
        people.start()
    assert ledger.show() == before  # every row is read before anything is spent
    with people.connect() as connection:
        release = released(tandem.source(connection, QUERY, name="register"), **run)
    assert release.document["rows"] == 120_000 and ledger.verify()


class Watch:
    """The words of every command line on this machine while a call runs."""

    def __init__(self):
        self.seen = set()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.done.is_set():
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    self.seen.add((process / "cmdline").read_bytes())
                except OSError:
                    pass
            time.sleep(0.01)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def test_no_password_and_no_private_value_is_left_anywhere(people, tmp_path, monkeypatch, caplog,
                                                           capfd):
    caplog.set_level(logging.DEBUG)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    ledger = tandem.Ledger.create(tmp_path / "ledger", dataset="register", epsilon=4)
    found = set()

    def look(*_):  # at the files there are while rows are read and counted
        for path in tmp_path.rglob("*"):
            if path.is_file():
                found.add(path.read_bytes())

    with people.connect() as connection, Watch() as watch:
        rows = tandem.source(connection, QUERY, name="register")
        released(rows, ledger=ledger, seed=None, epsilon=1, out=tmp_path / "release", progress=look)
        look()
        tandem.compare(rows, schema=schema(), mechanisms=["independent"], epsilons=[1], seeds=1,
                       out=tmp_path / "compared", internal=True)
        look()
        with pytest.raises(tandem.UsageError) as caught:
            released(rows, mechanism="nothing")
        with pytest.raises(tandem.SourceError) as broken:
            released(tandem.source(connection, "select secret::int from people"))
    said = "".join(traceback.format_exception(caught.value) + traceback.format_exception(broken.value))
    out, err = capfd.readouterr()
    logged = "".join(record.getMessage() for record in caplog.records)
    for secret in (people.PASSWORD, NAME):
        assert secret not in said + out + err + logged
        assert not [text for text in found if secret.encode() in text]
        assert not [words for words in watch.seen if secret.encode() in words]
    assert len(found) > 5 and len(watch.seen) > 2


ACS = pathlib.Path(os.environ.get("TANDEM_DATA", "/nowhere")) / "acs"


@pytest.mark.skipif(not (ACS / "ma2019.csv").exists(), reason="TANDEM_DATA has no acs")
def test_acs_in_postgresql_is_the_file(postgres):
    file = ACS / "ma2019.csv"
    acs = tandem.Schema.draft(ACS / "ma2018.csv")
    table = pandas.read_csv(file)  # 'N' among numbers is text
    with postgres.connect() as connection:
        kinds = {"i": "bigint", "f": "numeric"}
        columns = ", ".join(f'"{name}" {kinds.get(table[name].dtype.kind, "text")}' for name in table)
        connection.execute(f"create table acs (at serial, {columns})")
        listed = ", ".join(f'"{name}"' for name in table)
        with connection.cursor().copy(f"copy acs ({listed}) from stdin (format csv, header)") as copy:
            copy.write(file.read_bytes())
        rows = tandem.source(connection, "select * from acs order by at")
        made = tandem.synthesize(rows, schema=acs, epsilon=1, seed=1, mechanism="independent")
    of_file = tandem.synthesize(file, schema=acs, epsilon=1, seed=1, mechanism="independent")
    assert digest(made) == digest(of_file)


def test_a_connection_is_left_as_it_was_found(people, postgres):
    """No cursor stays open, also of a call that was refused, and a connection of single statements
    serves as well."""
    for autocommit in (False, True):
        with postgres.connect() as connection:
            connection.autocommit = autocommit
            rows = tandem.source(connection, "select * from people limit 60")
            with pytest.raises(tandem.UsageError, match="no column"):
                released(tandem.source(connection, "select 1 as one"))
            for _ in range(2):
                assert released(rows, rows=10).document["rows"] == 10
            # Two tables of one call, on one connection.
            assert tandem.evaluate(rows, rows, schema=schema(), internal=True)["avg_workload_error"] == 0
            assert connection.execute("select count(*) from pg_cursors").fetchone() == (0,)


def test_what_is_no_connection_is_said():
    with pytest.raises(tandem.UsageError, match="has no cursor"):
        tandem.source("postgresql://steward@db/health", "select 1")

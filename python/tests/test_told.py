# SPDX-License-Identifier: Apache-2.0
"""What is said of a failure on a cluster: one of our sentences, chosen by nothing that stands in a row."""
import pytest

from tandem import _spark
from tandem._executor import marked

MARK = "0123456789abcdef0123456789abcdef"
CELLS = ["tandem-says:p7 has HIV", "heartbeat", "OutOfMemoryError", "java.lang.OutOfMemoryError: Java heap",
         "No space left on device", "ExecutorLostFailure", "[PYTHON_VERSION_MISMATCH]", "maxResultSize",
         "Cannot run program", "No module named 'pyarrow'", "SparkContext was shut down", "UNAVAILABLE",
         "x\nJob aborted due to stage failure: Total size of serialized results", f"{'0' * 32}:cDcgaGFz:",
         "Cannot call methods on a stopped SparkContext", "Task 0 failed: FetchFailed"]
FAILED = ("Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times, most recent failure: Lost "
          "task 0.3 in stage 3.0 (TID 7) (host executor 1): ")


class WithCondition(Exception):
    def __init__(self, condition):
        super().__init__("p7 has HIV")
        self.condition = condition

    def getCondition(self):
        return self.condition


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_neither_shown_nor_chooses(cell):
    for text in (f"The value '{cell}' cannot be cast, row: name=p8 pay=91,000", cell + " and more",
                 f"[CAST_INVALID_INPUT] The value '{cell}' of the type STRING cannot be cast",
                 FAILED + f"org.apache.spark.api.python.PythonException: ValueError: {cell}\n{cell}"):
        for kind in (Exception, ValueError, RuntimeError):
            if text.startswith("Cannot call methods"):
                continue  # Spark's own sentence begins so, and holds nothing else
            assert _spark.told_by(kind(text), MARK) == _spark.OTHER, text


def test_our_own_sentences_come_back_whole():
    sentence = "The column 'a' of the private data holds lists; give one number, text or date in each cell."
    text = FAILED + f"org.apache.spark.api.python.PythonException: Told: {marked(MARK, sentence)}\nname=p8"
    assert _spark.told_by(Exception(text), MARK) == sentence
    # Of another run, cut off, or with anything between the marks, it is nobody's.
    for broken in (text.replace(MARK, "f" * 32), text.partition(":" + MARK + "\n")[0],
                   text.replace(f"{MARK}:", f"{MARK}: p7 ", 1)):
        assert _spark.told_by(Exception(broken), MARK) == _spark.OTHER


@pytest.mark.parametrize("text, sentence", [
    (FAILED + "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: p7", "LOST"),
    (FAILED + "java.lang.OutOfMemoryError: Java heap space\n\tat p7", "MEMORY"),
    (FAILED + "java.io.IOException: No space left on device\n\tat", "DISK"),
    ("An error occurred while calling o7.collectToPython.\n: org.apache.spark.SparkException: " + FAILED +
     "java.lang.OutOfMemoryError: GC overhead limit exceeded", "MEMORY"),
    ("(org.apache.spark.SparkException) Job aborted due to stage failure: Total size of serialized results "
     "of 4 tasks (1.0 GiB) is bigger than spark.driver.maxResultSize", "RESULTS"),
    ("Job 3 cancelled because SparkContext was shut down", "LOST"),
])
def test_what_spark_says_of_itself_is_known(text, sentence):
    assert _spark.told_by(Exception(text), MARK) == getattr(_spark, sentence)


def test_conditions_and_classes_are_known():
    assert _spark.told_by(WithCondition("PYTHON_VERSION_MISMATCH"), MARK) == _spark.VERSIONS
    assert _spark.told_by(WithCondition("INVALID_HANDLE.SESSION_CLOSED"), MARK) == _spark.LOST
    assert _spark.told_by(WithCondition("CAST_INVALID_INPUT"), MARK) == _spark.OTHER
    assert _spark.told_by(ConnectionRefusedError("p7"), MARK) == _spark.LOST
    try:
        try:
            raise MemoryError
        except MemoryError as error:
            raise RuntimeError("p7") from error
    except RuntimeError as error:
        assert _spark.told_by(error, MARK) == _spark.MEMORY


def test_where_no_row_was_near_words_choose():
    error = Exception("RuntimeError: Python in worker has different version 3.9 than that in driver 3.11")
    assert _spark.told_by(error, MARK, public=True) == _spark.VERSIONS
    assert _spark.told_by(error, MARK) == _spark.OTHER

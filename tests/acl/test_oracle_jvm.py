"""The driver of Kafka's classes: one answer for one question, in order, and no JVM that hangs is waited for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from aclweb.clusters import ClusterError
from aclweb.runtime.java import bundled_java
from devstack.jars import COMPILER, kafka_jars, read_lock
from tests.oracle import jvm
from tests.oracle.jvm import Hung, JavaProgram, OracleError, need_program
from tests.servers import missing, need_jars

pytestmark = [pytest.mark.jvm, pytest.mark.own_server]


@pytest.fixture(scope="module")
def echo() -> Iterator[JavaProgram]:
    with need_program("Echo", "4.4.0", seconds=30) as program:
        yield program


def test_a_program_runs_on_the_jars_of_its_version(echo):
    assert echo.ask("jar") == "kafka-clients-4.4.0.jar"
    assert echo.digests == {jar.file_name: jar.sha256 for jar in read_lock("4.4.0")}


def test_a_line_comes_back_as_it_was_whatever_its_letters(echo):
    lines = ["", " ", "a\tb", "é\U0001f600\uffff", "x" * 200_000]

    assert list(echo.ask_many(lines)) == lines


def test_many_questions_are_answered_in_their_order_without_waiting_for_each(echo):
    lines = [f"{number} {'.' * (number % 97)}" for number in range(50_000)]

    assert list(echo.ask_many(iter(lines))) == lines


def test_a_line_break_in_a_question_is_refused(echo):
    with pytest.raises(ValueError, match="line break"):
        echo.ask("a\nb")

    assert echo.ask("next") == "next"


def test_a_jvm_that_hangs_is_ended_and_the_next_question_goes_to_a_fresh_one(echo):
    echo.ask("warm")
    hanging = echo.pid
    echo.seconds = 1

    with pytest.raises(Hung) as caught:
        list(echo.ask_many(["first", "hang", "third"]))

    echo.seconds = 30
    assert caught.value.line == "hang"
    assert echo.ask("again") == "again"
    assert echo.pid != hanging
    assert hanging is not None
    with pytest.raises(ProcessLookupError):
        os.kill(hanging, 0)


def test_a_jvm_that_ended_reports_its_last_output_and_is_replaced(echo):
    with pytest.raises(OracleError, match=r"status 3 at 'die': .*as it was told"):
        echo.ask("die")

    assert echo.ask("again") == "again"


def test_answers_that_nobody_waited_for_are_not_taken_for_later_ones(echo):
    for _ in echo.ask_many(["one", "two", "three"]):
        break

    assert echo.ask("four") == "four"


def test_a_machine_whose_java_has_no_compiler_compiles_with_the_eclipse_compiler(tmp_path, monkeypatch):
    java = bundled_java()
    if java is None or kafka_jars(COMPILER) is None:
        missing(f"The Java from PyPI or the compiler is not here; run python -m devstack.jars {COMPILER}.")
    monkeypatch.setenv("ACLWEB_KAFKA_HOME", str(need_jars("4.4.0").parent))
    monkeypatch.setattr("devstack.jars.find_java", lambda: java)
    monkeypatch.setattr(jvm, "find_java", lambda: java)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    with JavaProgram("Echo", "4.4.0") as program:
        assert program.ask("jar") == "kafka-clients-4.4.0.jar"

    assert [folder.name[:10] for folder in (tmp_path / "aclweb" / "oracle").iterdir()] == ["Echo-4.4.0"]


def test_a_source_that_is_wrong_is_reported_with_the_words_of_the_compiler(tmp_path):
    source = tmp_path / "Wrong.java"
    source.write_text('public class Wrong { int number = "text"; }')

    with pytest.raises(OracleError, match=r"Wrong.java cannot be compiled: .*String"):
        jvm.compile_java(source, need_jars("4.4.0"), tmp_path / "classes", jvm._compiler())


def test_a_version_whose_jars_are_not_here_is_reported_with_the_command(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("ACLWEB_KAFKA_HOME", str(tmp_path))

    with pytest.raises(OracleError, match=r"run python -m devstack\.jars 4\.4\.0"):
        JavaProgram("Echo", "4.4.0")
    with pytest.raises(ClusterError, match="no lock"):
        JavaProgram("Echo", "9.9.9")

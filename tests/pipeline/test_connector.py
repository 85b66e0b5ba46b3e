"""Is Spark's connector for Kafka found where it can be, and one that does not fit called so?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aclweb.pipeline.connector import CONNECTOR, Spark, find, installed_spark, jars_with
from devstack.jars import CONNECTOR as LOCK
from devstack.jars import read_lock
from tests.pipeline.connector_folder import connector_in
from tests.servers import need_jars


@pytest.fixture
def here(tmp_path) -> Spark:
    for name in ("jars", "conf", "given"):
        (tmp_path / name).mkdir()
    return Spark("4.3.0", "2.13", tmp_path / "jars", tmp_path / "conf")


@pytest.fixture
def given(tmp_path) -> Path:
    return tmp_path / "given"


def test_the_set_that_is_fetched_is_the_tested_one_and_fits_the_spark_of_the_lock():
    assert {f"{jar.group}:{jar.artifact}:{jar.version}" for jar in read_lock(LOCK)} == set(CONNECTOR)

    spark = installed_spark()
    found = find(str(need_jars(LOCK)), spark)

    assert (spark.scala, found.version, found.problem, found.is_tested) == ("2.13", "4.2.0", "", True)


def test_another_connector_of_the_same_spark_fits_and_is_not_called_tested(here, given):
    connector_in(given, spark_sql="4.3.0")

    found = find(str(given), here)

    assert (found.version, found.problem, found.is_tested) == ("4.3.0", "", False)


def test_a_folder_that_does_not_do_is_named_with_what_is_wrong(here, given):
    assert find(str(given / "gone"), here).problem == (
        f"There is no jar in {given / 'gone'}, which ACLWEB_KAFKA_CONNECTOR names."
    )
    jars = connector_in(given)
    for jar in jars[:2]:
        jar.unlink()
    assert find(str(given), here).problem == (
        f"In {given} there is no jar of kafka-clients and commons-pool2."
    )


def test_a_connector_of_another_spark_or_scala_does_not_fit(here, given):
    connector_in(given)

    assert find(str(given), replace(here, scala="2.12")).problem == (
        f"Spark's connector for Kafka 4.2.0 in {given} is for Scala 2.13, and Spark 4.3.0 has Scala 2.12."
    )
    assert find(str(given), replace(here, version="5.0.0")).problem == (
        f"Spark's connector for Kafka 4.2.0 in {given} is not for Spark 5.0.0, which is installed."
    )


@pytest.mark.parametrize(
    "line",
    [
        f"spark.jars.packages {','.join(CONNECTOR)}",
        "spark.jars=/opt/j/spark-sql-kafka-0-10_2.13-4.2.0.jar,file:///opt/j/kafka-clients-3.9.2.jar",
    ],
)
def test_a_connector_that_spark_defaults_name_is_found(here, line):
    defaults = here.conf / "spark-defaults.conf"
    defaults.write_text(f"# spark.jars.packages none\nspark.executor.memory 1g\n{line}\n")

    found = find("", here)

    assert (found.where, found.version, found.problem) == (str(defaults), "4.2.0", "")


def test_what_spark_defaults_name_counts_before_a_folder_and_other_jars_there_stay(here, given):
    jars = connector_in(given)
    defaults = here.conf / "spark-defaults.conf"
    defaults.write_text("spark.jars /opt/j/a.jar, /opt/j/b.jar\nspark.jars.packages org.x:y:1\n")

    assert find(str(given), here).where == str(given)
    assert jars_with(str(given), here) == ["/opt/j/a.jar", "/opt/j/b.jar", *map(str, jars)]
    defaults.write_text(f"spark.jars.packages {CONNECTOR[0]}\n")
    assert find(str(given), here).where == str(defaults)


def test_a_connector_among_sparks_own_jars_is_found(here):
    assert find("", here) is None

    connector_in(here.jars)

    assert find("", here).where == str(here.jars)

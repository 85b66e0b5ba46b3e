"""The jars of a broker are exactly those of the lock, or there are none."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import pkcs12

from aclweb.clusters import ClusterError
from devstack import jars
from tests.clusters.certificates import certificates

CONTENT = {"kafka-clients": b"the clients", "kafka_2.13": b"the server"}


@pytest.fixture
def small(tmp_path: Path, monkeypatch) -> Path:
    """A world with one version, 1.2.3, of two jars, an empty cache and no resolver; return the cache."""
    locks = tmp_path / "locks"
    locks.mkdir()
    lines = [
        f"{hashlib.sha256(data).hexdigest()} {len(data)} org.apache.kafka:{artifact}:1.2.3"
        for artifact, data in CONTENT.items()
    ]
    (locks / "1.2.3.sha256").write_text("# two jars\n" + "\n".join(lines) + "\n")
    monkeypatch.setattr(jars, "LOCKS", locks)
    monkeypatch.setattr(jars, "pyspark_jars", lambda: None)
    monkeypatch.setenv("ACLWEB_KAFKA_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "cache"


def maven(cache: Path, script: str) -> None:
    """Put a `mvn` on the path that runs this with $out as the folder for the jars."""
    program = cache.parent / "bin" / "mvn"
    find_folder = "for word do case $word in -DoutputDirectory=*) out=${word#*=};; esac; done\n"
    program.write_text(f"#!/bin/sh\n{find_folder}{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


RIGHT = (
    'printf "the clients" > "$out/kafka-clients-1.2.3.jar"; printf "the server" > "$out/kafka_2.13-1.2.3.jar"'
)


def test_jars_that_match_the_lock_are_kept_and_not_fetched_again(small):
    maven(small, RIGHT)
    told: list[str] = []

    folder = jars.fetch("1.2.3", told.append)
    maven(small, "exit 9")
    again = jars.fetch("1.2.3", told.append)

    assert folder == again == jars.kafka_jars("1.2.3") == small / "1.2.3"
    assert any("Maven fetched the 2 jars of Kafka 1.2.3" in line for line in told)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (RIGHT + '; printf "evil code!!" > "$out/kafka-clients-1.2.3.jar"', "SHA-256"),
        (RIGHT + '; rm -f "$out/kafka_2.13-1.2.3.jar"', "1 missing, such as kafka_2.13-1.2.3.jar"),
        (RIGHT + '; printf x > "$out/extra-1.jar"', "1 too many, such as extra-1.jar"),
        ('echo "Could not resolve"; exit 3', "status 3 (Could not resolve)"),
        (":", "2 missing"),
    ],
    ids=["other content", "one missing", "one too many", "a failure", "nothing"],
)
def test_anything_else_is_refused_with_the_reason_and_leaves_nothing_behind(small, script, why):
    # rm is no builtin of sh.
    maven(small, script.replace("rm -f", "/bin/rm -f"))

    with pytest.raises(ClusterError) as caught:
        jars.fetch("1.2.3", lambda line: None)

    assert why in str(caught.value)
    assert "Install Maven or PySpark" in str(caught.value)
    assert jars.kafka_jars("1.2.3") is None
    assert [path.name for path in small.iterdir()] == [".1.2.3.lock"]


def test_the_jars_that_tests_use_are_locked():
    assert {*jars.EVERYDAY, *jars.THOROUGH} <= {*jars.versions(), jars.COMPILER, jars.CONNECTOR}
    assert [jar.artifact for jar in jars.read_lock(jars.COMPILER)] == ["ecj"]


def test_without_any_way_to_fetch_it_says_what_would_help(small):
    with pytest.raises(ClusterError, match="mvn is not installed") as caught:
        jars.fetch("1.2.3", lambda line: None)

    assert "PySpark" in str(caught.value)


def test_a_folder_that_was_cut_short_does_not_count_and_is_replaced(small):
    maven(small, RIGHT)
    folder = jars.fetch("1.2.3", lambda line: None)
    (folder / "kafka_2.13-1.2.3.jar").write_bytes(b"the")

    assert jars.kafka_jars("1.2.3") is None
    assert jars.fetch("1.2.3", lambda line: None) == folder
    assert (folder / "kafka_2.13-1.2.3.jar").read_bytes() == b"the server"


def test_a_folder_of_an_older_lock_does_not_count(small):
    maven(small, RIGHT)
    jars.fetch("1.2.3", lambda line: None)
    lock = jars.LOCKS / "1.2.3.sha256"
    lock.write_text(lock.read_text() + "# one remark more\n")

    assert jars.kafka_jars("1.2.3") is None


def test_a_version_without_a_lock_is_reported_with_those_that_have_one():
    with pytest.raises(ClusterError, match=r"'9\.9\.9'; use one of 4\.4\.0, .*3\.9\.2"):
        jars.fetch("9.9.9", lambda line: None)


@pytest.mark.parametrize("name", ["../1", "", "4.4.0/../4.4.0"])
def test_a_version_is_never_taken_for_a_path(name):
    with pytest.raises(ClusterError, match="no lock"):
        jars.read_lock(name)


@pytest.mark.parametrize(("version", "count"), [("4.4.0", 44), ("4.3.1", 47), ("4.1.1", 46), ("3.9.2", 58)])
def test_the_committed_locks_pin_every_jar_once(version, count):
    locked = jars.read_lock(version)

    assert len(locked) == count
    assert len({jar.file_name for jar in locked}) == count
    assert len({jar.sha256 for jar in locked}) == count
    assert all(len(jar.sha256) == 64 and jar.size > 0 for jar in locked)
    assert {jar.version for jar in locked if jar.artifact == "kafka_2.13"} == {version}


@pytest.mark.parametrize("version", [*jars.versions(), jars.COMPILER])
def test_both_resolvers_are_asked_for_exactly_the_lock_and_for_no_dependencies(
    version, tmp_path, monkeypatch
):
    locked = jars.read_lock(version)
    monkeypatch.setattr(jars, "_run", lambda *given, **named: None)
    monkeypatch.setattr(jars.shutil, "which", lambda name: "/usr/bin/mvn")
    monkeypatch.setattr(jars, "find_java", lambda: Path("/usr/bin/java"))
    monkeypatch.setattr(jars, "pyspark_jars", lambda: tmp_path)
    (tmp_path / "ivy-2.5.3.jar").touch()

    jars._by_maven(locked, tmp_path, tmp_path, print)
    jars._by_ivy(locked, tmp_path, tmp_path, print)

    pom, ivy = (tmp_path / "pom.xml").read_text(), (tmp_path / "ivy.xml").read_text()
    assert pom.count("<dependency>") == pom.count("<artifactId>*</artifactId>") == len(locked)
    assert ivy.count("<dependency ") == ivy.count('transitive="false"') == len(locked)
    for jar in locked:
        assert f"<artifactId>{jar.artifact}</artifactId><version>{jar.version}</version>" in pom
        assert f'name="{jar.artifact}" rev="{jar.version}"' in ivy


def test_the_command_ends_with_one_where_a_version_cannot_be_had(small, capsys):
    status = jars.main(["1.2.3"])

    assert status == 1
    assert "could not be fetched" in capsys.readouterr().err


def test_the_command_without_a_version_fetches_what_the_tests_use_and_says_where(small, capsys, monkeypatch):
    maven(small, RIGHT)
    monkeypatch.setattr(jars, "EVERYDAY", ("1.2.3",))

    status = jars.main([])

    assert status == 0
    assert f"Kafka 1.2.3: {small / '1.2.3'}" in capsys.readouterr().out


def test_the_command_for_thorough_tests_fetches_theirs_too(monkeypatch):
    fetched = []
    monkeypatch.setattr(jars, "fetch", lambda version: fetched.append(version) or version)

    assert jars.main(["--thorough"]) == 0
    assert fetched == [*jars.EVERYDAY, *jars.THOROUGH]


def test_a_cache_that_cannot_be_written_is_reported(small):
    small.write_text("a file where the folder should be")

    with pytest.raises(ClusterError, match="ACLWEB_KAFKA_HOME"):
        jars.fetch("1.2.3", lambda line: None)


def test_the_java_from_pypi_is_told_whom_this_machine_trusts_an_installed_one_not(tmp_path, monkeypatch):
    authority, _ = certificates("127.0.0.1")
    bundle = tmp_path / "authorities.pem"
    bundle.write_text(authority)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    bundled, installed = Path("/pypi/java"), Path("/usr/bin/java")
    monkeypatch.setattr(jars, "bundled_java", lambda: bundled)

    monkeypatch.setattr(jars, "find_java", lambda: installed)
    assert jars._trusting(tmp_path) == []
    monkeypatch.setattr(jars, "find_java", lambda: bundled)
    told = jars._trusting(tmp_path)

    assert told[0] == f"-Djavax.net.ssl.trustStore={tmp_path / 'authorities.p12'}"
    store = pkcs12.load_pkcs12((tmp_path / "authorities.p12").read_bytes(), b"changeit")
    assert [one.certificate for one in store.additional_certs] == [
        x509.load_pem_x509_certificate(authority.encode())
    ]


def test_a_list_of_authorities_that_cannot_be_read_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "authorities.pem").write_text("-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authorities.pem"))
    monkeypatch.setattr(jars, "bundled_java", lambda: Path("/pypi/java"))
    monkeypatch.setattr(jars, "find_java", lambda: Path("/pypi/java"))

    assert jars._trusting(tmp_path) == []


def test_of_what_a_resolver_says_the_line_with_the_cause_is_reported():
    said = ":: problems summary ::\n:::: WARNINGS\n  PKIX path building failed: no valid path\n"

    assert jars._telling(said) == "PKIX path building failed: no valid path"

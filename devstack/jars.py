"""Where are the jars of a real Kafka, and how do they get onto this machine?

A lock under requirements/kafka names every jar of a version with its SHA-256, and
whoever resolves is asked for exactly these, each without its dependencies: Maven and
Ivy settle version conflicts differently, and so neither has any to settle. Maven is
tried first where it is installed, then the Ivy that comes with PySpark.

Downloads go into a folder of their own; only when every file has been checked does
it get its final name. So a folder with its name is complete, or was tampered with,
which its marker and the sizes tell.

Without an argument the command fetches what the tests use: two brokers, the release
with Kafka's own command-line tools, and a compiler for a Java that has none; with --thorough
also what thorough tests use. Other versions hold only what an authorizer needs, for recording its decisions.

    python -m devstack.jars
    python -m devstack.jars --thorough
    python -m devstack.jars 4.4.0
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12

from aclweb.clusters.client import ClusterError
from aclweb.runtime import java
from aclweb.runtime.java import JavaError, bundled_java
from devstack.java import find_java, java_home
from devstack.servers import EmbeddedError, pyspark_jars

COMPILER = "compiler"
"""The name of the lock of the Eclipse compiler for Java."""

CONNECTOR = "connector"
"""The name of the lock of Spark's connector for Kafka, with what it needs beside Spark."""

EVERYDAY = ("4.4.0", "4.3.1", "3.9.2", COMPILER, CONNECTOR)
"""What the tests use. The compiler is for a Java that has none, which they also try where this one has one."""

THOROUGH = ("4.1.1",)
"""What thorough tests use beside it: a broker of a version in between."""

LOCKS = Path(__file__).resolve().parents[1] / "requirements" / "kafka"
PATIENCE_SECONDS = 900
_NO_BROKERS = {COMPILER: "the Java compiler", CONNECTOR: "Spark's connector for Kafka"}
_MARKER = ".complete"
_COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

_USUAL_AUTHORITY_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
# Certificates of authorities are public; Java wants a word for the file all the same.
_STORE_PASSWORD = "changeit"  # noqa: S105
_TELLING = re.compile(
    r"PKIX|unknown\s?host|refused|timed out|could not|not found|ERROR|unreachable", re.IGNORECASE
)

_BRIEF_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

Progress = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Jar:
    """One line of a lock."""

    sha256: str
    size: int
    group: str
    artifact: str
    version: str

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"


def versions() -> tuple[str, ...]:
    """Return the Kafka versions that have a lock, the newest first."""
    found = [file.stem for file in LOCKS.glob("*.sha256") if file.stem not in _NO_BROKERS]
    return tuple(sorted(found, key=lambda version: [int(part) for part in version.split(".")], reverse=True))


def cache_folder() -> Path:
    """Return where the jars are kept, one folder per version."""
    own = os.environ.get("ACLWEB_KAFKA_HOME")
    if own:
        return Path(own)
    return java.cache_folder(os.environ.get("XDG_CACHE_HOME", "")) / "kafka"


def read_lock(version: str) -> tuple[Jar, ...]:
    """Return the jars of this version; raises EmbeddedError where there is no lock for it."""
    file = LOCKS / f"{version}.sha256"
    if version not in (*versions(), *_NO_BROKERS):
        raise EmbeddedError(
            f"There is no lock of the jars of Kafka {version!r}; use one of {', '.join(versions())}."
        )
    jars = []
    for line in file.read_text(encoding="ascii").splitlines():
        if line and not line.startswith("#"):
            digest, size, coordinates = line.split()
            group, artifact, number = coordinates.split(":")
            jars.append(Jar(digest, int(size), group, artifact, number))
    return tuple(jars)


def kafka_jars(version: str) -> Path | None:
    """Return the folder with the jars of this version if it is here and whole, else None."""
    folder = cache_folder() / version
    try:
        marked = (folder / _MARKER).read_text().strip() == _lock_digest(version)
        whole = marked and all(
            (folder / jar.file_name).stat().st_size == jar.size for jar in read_lock(version)
        )
    except OSError:
        return None
    return folder if whole else None


def fetch(version: str, progress: Progress = print) -> Path:
    """Return the folder with the jars of this version, downloaded if need be.

    `progress` gets a line now and then. Raises EmbeddedError where no way works, with
    what was tried.
    """
    jars = read_lock(version)
    with _only_one(version):
        present = kafka_jars(version)
        if present is not None:
            return present
        failures: list[str] = []
        for name, way in (("Maven", _by_maven), ("Ivy", _by_ivy)):
            with tempfile.TemporaryDirectory(prefix=f".{version}-", dir=cache_folder()) as scratch:
                libraries = Path(scratch) / "libraries"
                libraries.mkdir()
                try:
                    started = time.monotonic()
                    way(jars, Path(scratch), libraries, progress)
                    verify(jars, libraries)
                except (ClusterError, JavaError) as error:
                    failures.append(f"{name}: {error}")
                    progress(f"{name} did not get the jars of {_called(version)}: {error}")
                    continue
                (libraries / _MARKER).write_text(f"{_lock_digest(version)}\n")
                folder = cache_folder() / version
                if folder.exists():
                    shutil.rmtree(folder)
                libraries.rename(folder)
                took = time.monotonic() - started
                progress(f"{name} fetched the {len(jars)} jars of {_called(version)} in {took:.0f} s.")
                return folder
    raise EmbeddedError(
        f"The jars of {_called(version)} are not in {cache_folder()} and could not be fetched. {' '.join(failures)} "
        "Install Maven or PySpark, and check that this machine reaches a Maven repository."
    )


def verify(jars: Sequence[Jar], folder: Path) -> None:
    """Raise EmbeddedError unless `folder` holds exactly these files with exactly these contents."""
    wanted = {jar.file_name: jar for jar in jars}
    present = {file.name for file in folder.iterdir()}
    missing, extra = sorted(set(wanted) - present), sorted(present - set(wanted))
    if missing or extra:
        differences = [f"{len(missing)} missing, such as {missing[0]}"] if missing else []
        differences += [f"{len(extra)} too many, such as {extra[0]}"] if extra else []
        raise EmbeddedError(f"The files are not those of the lock: {' and '.join(differences)}.")
    for name, jar in wanted.items():
        with (folder / name).open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        if digest != jar.sha256:
            raise EmbeddedError(
                f"The file {name} has the SHA-256 {digest} and should have {jar.sha256}; it was not used."
            )


def _called(version: str) -> str:
    return _NO_BROKERS.get(version) or f"Kafka {version}"


def _lock_digest(version: str) -> str:
    return hashlib.sha256((LOCKS / f"{version}.sha256").read_bytes()).hexdigest()


@contextlib.contextmanager
def _only_one(version: str) -> Iterator[None]:
    """Let one process at a time fetch a version; the next one then finds it there."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = (folder / f".{version}.lock").open("w")
    except OSError as error:
        raise EmbeddedError(
            f"The folder {folder} cannot be written ({error.strerror}); set ACLWEB_KAFKA_HOME to one that can."
        ) from error
    with held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _by_maven(jars: Sequence[Jar], scratch: Path, libraries: Path, progress: Progress) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise EmbeddedError("mvn is not installed.")
    dependencies = "\n".join(
        f"<dependency><groupId>{jar.group}</groupId><artifactId>{jar.artifact}</artifactId>"
        f"<version>{jar.version}</version>"
        "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
        "</dependency>"
        for jar in jars
    )
    (scratch / "pom.xml").write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>aclweb</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>\n{dependencies}\n</dependencies></project>\n"
    )
    command = [maven, "-B", "-q", "-f", str(scratch / "pom.xml"), _COPY_GOAL]
    command += [f"-DoutputDirectory={libraries}", "-DincludeScope=runtime"]
    _run(command, scratch, progress, what=f"Maven fetches {len(jars)} jars", watched=libraries)


def _by_ivy(jars: Sequence[Jar], scratch: Path, libraries: Path, progress: Progress) -> None:
    folder = pyspark_jars()
    ivy = sorted(folder.glob("ivy-*.jar")) if folder else []
    if folder is None or not ivy:
        raise EmbeddedError("PySpark, whose jars contain Ivy, is not installed.")
    dependencies = "\n".join(
        f"<dependency org={quoteattr(jar.group)} name={quoteattr(jar.artifact)} rev={quoteattr(jar.version)} "
        'conf="default->master" transitive="false"/>'
        for jar in jars
    )
    (scratch / "ivy.xml").write_text(
        '<ivy-module version="2.0"><info organisation="aclweb" module="kafka"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>\n{dependencies}\n</dependencies></ivy-module>\n"
    )
    # A home and cache of its own: a half-filled Maven repository in the real home makes Ivy give up.
    home, cache = scratch / "home", scratch / "cache"
    home.mkdir()
    command = [str(find_java()), *_BRIEF_JVM.split(), "-Xmx256m", f"-Duser.home={home}", *_trusting(scratch)]
    command += ["-cp", os.pathsep.join([str(ivy[-1]), f"{folder}{os.sep}*"]), "org.apache.ivy.Main"]
    command += ["-cache", str(cache), "-ivy", str(scratch / "ivy.xml"), "-confs", "default", "-warn"]
    command += ["-retrieve", f"{libraries}/[artifact]-[revision].[ext]"]
    _run(command, scratch, progress, what=f"Ivy fetches {len(jars)} jars", watched=cache)


def _trusting(scratch: Path) -> list[str]:
    """Return what makes the Java from PyPI trust whom this machine trusts.

    It comes with a list of authorities of its own, which does not have those that a
    company adds to its machines. An installed Java is taken as it is.
    """
    bundle = next((file for file in _authority_files() if file.is_file()), None)
    if find_java() != bundled_java() or bundle is None:
        return []
    try:
        authorities = x509.load_pem_x509_certificates(bundle.read_bytes())
        store = pkcs12.serialize_java_truststore(
            [
                pkcs12.PKCS12Certificate(one, f"authority-{number}".encode())
                for number, one in enumerate(authorities)
            ],
            serialization.BestAvailableEncryption(_STORE_PASSWORD.encode()),
        )
    except (OSError, ValueError):
        return []
    file = scratch / "authorities.p12"
    file.write_bytes(store)
    return [
        f"-Djavax.net.ssl.trustStore={file}",
        "-Djavax.net.ssl.trustStoreType=PKCS12",
        f"-Djavax.net.ssl.trustStorePassword={_STORE_PASSWORD}",
    ]


def _authority_files() -> Iterator[Path]:
    """Yield where systems keep the certificates of the authorities that they trust."""
    for name in (
        os.environ.get("SSL_CERT_FILE"),
        ssl.get_default_verify_paths().cafile,
        *_USUAL_AUTHORITY_FILES,
    ):
        if name:
            yield Path(name)


def _telling(text: str) -> str:
    """Return the line of a resolver's output that says most about a failure."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if _TELLING.search(line)), " ".join(lines[:2]))[:300]


def _run(command: list[str], scratch: Path, progress: Progress, *, what: str, watched: Path) -> None:
    """Run a resolver to its end, telling from time to time how many jars are there."""
    # Maven reads this; of code that runs for seconds no optimising compiler makes up for itself.
    environment = {"MAVEN_OPTS": _BRIEF_JVM} | os.environ
    with contextlib.suppress(ClusterError):
        environment["JAVA_HOME"] = str(java_home())
    said = scratch / "said.log"
    started = reported = time.monotonic()
    progress(f"{what} ...")
    with said.open("wb") as opened:
        process = subprocess.Popen(
            command, cwd=scratch, stdin=subprocess.DEVNULL, stdout=opened, stderr=opened, env=environment
        )
        try:
            while process.poll() is None:
                now = time.monotonic()
                if now - started > PATIENCE_SECONDS:
                    raise EmbeddedError(f"it took longer than {PATIENCE_SECONDS} s.")
                if now - reported >= 5:
                    reported = now
                    progress(f"{what}: {len(list(watched.rglob('*.jar')))} so far, {now - started:.0f} s ...")
                time.sleep(0.1)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
    if process.returncode != 0:
        reason = _telling(said.read_text(errors="replace"))
        raise EmbeddedError(f"it ended with status {process.returncode} ({reason}).")


def main(arguments: Sequence[str]) -> int:
    """Fetch the versions named, those that the tests use if none is; return the exit status."""
    versions = (*EVERYDAY, *THOROUGH) if arguments == ["--thorough"] else arguments or EVERYDAY
    status = 0
    for version in versions:
        try:
            print(f"{_called(version)}: {fetch(version)}")
        except (ClusterError, JavaError) as error:
            print(error, file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

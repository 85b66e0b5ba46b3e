"""Where are the files of an access table or of a result: on this machine, or on a file system that Spark opens?

A `Folder` is either. `LocalFolder` needs no Spark. `DistantFolder` is at an address with a scheme (`hdfs://…`, `s3a://…`)
and is reached by Hadoop's own interface in Spark's JVM, with the settings that `--conf spark.hadoop.…` gives.

Both can put a file where none is, whole and in one step, so that of two writers one wins. A file system that can do
so in no way is refused.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from aclweb.pipeline.failures import cause_of, secrets_in
from aclweb.pipeline.files import address, escaped
from aclweb.pipeline.session import runs_here

JAVA_ERRORS = (Py4JJavaError, PySparkException)
"""What a call into the JVM raises where the JVM answers; PySpark gives some of Java's errors classes of its own."""

_AT_ONCE = 8

# Hadoop's name for a file that appears when it is closed, and only where none is.
_ONLY_WHERE_NONE_IS = "fs.option.create.conditional.overwrite"
# Stores that rename a file by copying it, so that a second writer may replace what the first one wrote.
_OBJECT_STORES = frozenset(("s3", "s3a", "s3n", "gs", "oss", "cosn", "obs", "tos", "wasb", "wasbs", "swift"))


class AddressError(Exception):
    """An address that cannot be used; the message names it and what would be right."""


class StorageError(Exception):
    """A file system that does not do what is asked; the message names the address and the cause."""


@dataclass(frozen=True)
class Entry:
    """A file or a folder by its name. written_at: seconds since 1970."""

    name: str
    written_at: float


def do_nothing(_point: str) -> None:
    """Go on."""


class Folder(Protocol):
    """A folder, and what is below it by names with `/` between their parts; its text is what a person calls it."""

    def below(self, name: str) -> Folder:
        """Return a folder in this one."""

    def address(self, name: str) -> str:
        """Return the path that Spark writes to."""

    def pattern(self, name: str) -> str:
        """Return the path that Spark reads: the very name, whatever signs it holds."""

    def names(self) -> list[str]:
        """Return the names of what is in this folder; none where it is not there."""

    def entries(self, name: str) -> list[Entry]:
        """Return what is in a folder; none where it is not there."""

    def files(self, name: str, before: float = inf) -> list[str]:
        """Return the names of the files below a folder that were written before a time, sorted."""

    def sizes(self, names: Collection[str]) -> dict[str, int]:
        """Return the bytes of those of these files that are there."""

    @contextmanager
    def copies(self, names: Sequence[str]) -> Iterator[list[Path]]:
        """Yield files of this machine with the bytes of these files; raises FileNotFoundError."""

    @contextmanager
    def new_file(self, name: str) -> Iterator[Path]:
        """Yield where to write a file on this machine; it has its name when the block ends well."""

    @contextmanager
    def scratch(self, name: str) -> Iterator[tuple[Path, Callable[[Path], str]]]:
        """Yield a folder of this machine for files that executors read, and what returns their path of such a file.

        name: of a new folder, for what has to be in this one.
        """

    def make(self, name: str) -> None:
        """Make a folder, and those above it."""

    def move(self, name: str, new: str) -> None:
        """Give a file another name, at which nothing is, safe from a power cut."""

    def put_if_absent(self, name: str, data: bytes, hit: Callable[[str], None] = do_nothing) -> bool:
        """Put a whole file where none is, in one step; return False where one is.

        hit: passes the points "version-written" and "committed" of `failpoints`.
        """

    def remove(self, name: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing happens where there is none."""

    def remove_if_empty(self, name: str) -> None:
        """Remove a folder with nothing in it."""

    def sync(self) -> None:
        """Have the names in the folder outlast a power cut."""

    def check_commits(self) -> None:
        """Raise AddressError where `put_if_absent` cannot keep its promise."""


def is_distant(given: str) -> bool:
    """Whether a place is reached through Spark; `file://` is this machine."""
    return "://" in given and not given.startswith("file://")


def check_address(given: str) -> None:
    """Raise AddressError for an address that is none on any file system, or that holds a password."""
    scheme, separator, rest = given.partition("://")
    if not separator:
        return
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        raise AddressError(
            f"{given!r} is no address; write a folder of this machine, or one as hdfs://HOST/FOLDER."
        )
    if ":" in rest.partition("/")[0].rpartition("@")[0]:
        raise AddressError(
            f"An address with {scheme}:// holds a password; leave it out, and give it to Spark as a setting."
        )
    if scheme == "file" and not rest.startswith("/"):
        raise AddressError(f"{given!r} names a host; write a folder of this machine as file:///FOLDER.")


def folder_at(given: str, spark: SparkSession | None = None) -> Folder:
    """Return the folder at a path or an address; spark: for an address of another file system.

    Raises AddressError where Spark knows no such file system, and StorageError where it cannot be reached.
    """
    check_address(given)
    if not is_distant(given):
        return LocalFolder(Path(given.removeprefix("file://")))
    if spark is None:
        raise AddressError(f"{given!r} is not on this machine; it is reached by Spark alone.")
    return DistantFolder.at(given, spark)


@dataclass(frozen=True)
class LocalFolder:
    """A folder of this machine, or one that it sees as its own."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def below(self, name: str) -> LocalFolder:
        return LocalFolder(self.path / name)

    def address(self, name: str) -> str:
        return f"file://{self.path.resolve() / name}"

    def pattern(self, name: str) -> str:
        return address(str(self.path.resolve() / name))

    def names(self) -> list[str]:
        return [entry.name for entry in os.scandir(self.path)] if self.path.is_dir() else []

    def entries(self, name: str) -> list[Entry]:
        folder = self.path / name
        found = os.scandir(folder) if folder.is_dir() else ()
        return [Entry(entry.name, entry.stat(follow_symlinks=False).st_mtime) for entry in found]

    def files(self, name: str, before: float = inf) -> list[str]:
        found = (file for file in (self.path / name).rglob("*") if file.is_file())
        return sorted(
            file.relative_to(self.path).as_posix() for file in found if file.stat().st_mtime < before
        )

    def sizes(self, names: Collection[str]) -> dict[str, int]:
        found = {}
        for name in names:
            with suppress(FileNotFoundError):
                found[name] = (self.path / name).stat().st_size
        return found

    @contextmanager
    def copies(self, names: Sequence[str]) -> Iterator[list[Path]]:
        yield [self.path / name for name in names]

    @contextmanager
    def new_file(self, name: str) -> Iterator[Path]:
        yield self.path / name

    @contextmanager
    def scratch(self, name: str) -> Iterator[tuple[Path, Callable[[Path], str]]]:
        self.make(name)
        yield self.path / name, lambda file: str(file.resolve())

    def make(self, name: str) -> None:
        (self.path / name).mkdir(parents=True, exist_ok=True)

    def move(self, name: str, new: str) -> None:
        _sync(self.path / name)
        target = self.path / new
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).rename(target)
        _sync(target.parent)

    def put_if_absent(self, name: str, data: bytes, hit: Callable[[str], None] = do_nothing) -> bool:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.parent / _hidden(target.name)
        try:
            with unfinished.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            hit("version-written")
            try:
                # Unlike a rename, this never replaces what is there.
                os.link(unfinished, target)
            except FileExistsError:
                return False
            hit("committed")
        finally:
            unfinished.unlink(missing_ok=True)
        _sync(target.parent)
        return True

    def remove(self, name: str) -> None:
        path = self.path / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def remove_if_empty(self, name: str) -> None:
        with suppress(OSError):
            (self.path / name).rmdir()

    def sync(self) -> None:
        _sync(self.path)

    def check_commits(self) -> None:
        """Any file system of this machine links."""


def _sync(path: Path) -> None:
    """Have a file's bytes, or the names in a folder, outlast a power cut."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _hidden(name: str) -> str:
    """Return another name for a file that is not whole yet."""
    return f".{name}.{uuid.uuid4().hex}"


@dataclass(frozen=True)
class _Hadoop:
    """Hadoop's interface in the JVM of Spark. Finding a class there takes several calls, so it is found once."""

    spark: SparkSession

    @cached_property
    def path(self) -> Any:
        return self._classes.Path

    @cached_property
    def context(self) -> Any:
        """The class of the second interface, which can rename a file only where none is."""
        return self._classes.FileContext

    @cached_property
    def only_where_none_is(self) -> Any:
        rename = getattr(self._classes, "Options$Rename")
        gateway: Any = self.spark.sparkContext._gateway
        found = gateway.new_array(rename, 1)
        found[0] = rename.NONE
        return found

    @property
    def _classes(self) -> Any:
        jvm: Any = self.spark._jvm
        return jvm.org.apache.hadoop.fs


@dataclass(frozen=True)
class DistantFolder:
    """A folder of a file system that Hadoop's interface opens. text: its address. system: Hadoop's FileSystem."""

    text: str
    hadoop: _Hadoop
    system: Any

    @classmethod
    def at(cls, text: str, spark: SparkSession) -> DistantFolder:
        """Return the folder at an address; the errors are those of `folder_at`."""
        hadoop = _Hadoop(spark)
        try:
            path = hadoop.path(text)
            system = path.getFileSystem(spark._jsc.hadoopConfiguration())
            # As the file system itself writes the names of its files.
            return cls(str(system.makeQualified(path).toString()), hadoop, system)
        except JAVA_ERRORS as error:
            raise _why_no_system(text, spark, error) from error

    def __str__(self) -> str:
        return self.text

    def below(self, name: str) -> DistantFolder:
        return replace(self, text=self.address(name))

    def address(self, name: str) -> str:
        return f"{self.text.rstrip('/')}/{name}" if name else self.text

    def pattern(self, name: str) -> str:
        return escaped(self.address(name))

    def names(self) -> list[str]:
        return [str(one.getPath().getName()) for one in self._in("")]

    def entries(self, name: str) -> list[Entry]:
        return [Entry(str(one.getPath().getName()), _written_at(one)) for one in self._in(name)]

    def files(self, name: str, before: float = inf) -> list[str]:
        found = self._all_below(name)
        return sorted(name for name, one in found if before == inf or _written_at(one) < before)

    def sizes(self, names: Collection[str]) -> dict[str, int]:
        # One listing of a folder for many files takes fewer calls than one call for each.
        wanted = set(names)
        found: dict[str, int] = {}
        for folder in sorted({name.partition("/")[0] for name in wanted}):
            found |= {name: int(one.getLen()) for name, one in self._all_below(folder) if name in wanted}
        return found

    @contextmanager
    def copies(self, names: Sequence[str]) -> Iterator[list[Path]]:
        with tempfile.TemporaryDirectory(prefix="aclweb-copies-") as directory:
            # A place of its own for each: names in different folders may be the same.
            files = [Path(directory) / str(number) for number in range(len(names))]
            # Each waits for another machine.
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                list((pool.map if len(files) > 1 else map)(self._fetch, names, files))
            yield files

    @contextmanager
    def new_file(self, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="aclweb-copies-") as directory:
            file = Path(directory) / "new"
            yield file
            self.send(file, name)

    @contextmanager
    def scratch(self, name: str) -> Iterator[tuple[Path, Callable[[Path], str]]]:
        def shown(file: Path) -> str:
            if runs_here(self.hadoop.spark):
                return str(file.resolve())
            self.send(file, f"{name}/{file.name}")
            return self.address(f"{name}/{file.name}")

        with tempfile.TemporaryDirectory(prefix="aclweb-copies-") as directory:
            yield Path(directory), shown

    def make(self, name: str) -> None:
        with self._told("written", name):
            self.system.mkdirs(self._path(name))

    def move(self, name: str, new: str) -> None:
        with self._told("written", new):
            target = self._path(new)
            self.system.mkdirs(target.getParent())
            if not self.system.rename(self._path(name), target):
                raise StorageError(f"{self.address(name)} could not be renamed to {self.address(new)}.")

    def put_if_absent(self, name: str, data: bytes, hit: Callable[[str], None] = do_nothing) -> bool:
        self.check_commits()
        put = self._put_in_close if self._puts_in_close else self._put_by_renaming
        with self._told("written", name):
            try:
                put(name, data, hit)
            except JAVA_ERRORS:
                # What is there says what happened, also where an answer was lost on its way.
                found = self._read(name)
                if found is None:
                    raise
                return found == data
        hit("committed")
        return True

    def remove(self, name: str) -> None:
        with self._told("written", name):
            self.system.delete(self._path(name), True)

    def remove_if_empty(self, name: str) -> None:
        with suppress(*JAVA_ERRORS):
            if not self.system.listStatus(self._path(name)):
                self.system.delete(self._path(name), False)

    def sync(self) -> None:
        """A store of several machines keeps what it has answered for."""

    def check_commits(self) -> None:
        if self._puts_in_close:
            return
        scheme = urlsplit(self.text).scheme
        if scheme in _OBJECT_STORES:
            raise AddressError(
                f"{self.text}: this {scheme}:// cannot put a file only where none is, so of two writers one would lose "
                "what it wrote; use a newer one (s3a:// of Hadoop 3.4.2 does it), or another file system."
            )
        with self._told("written", ""):
            self._context()

    @property
    def is_object_store(self) -> bool:
        """Whether files appear when they are closed, and a folder is no more than the names of its files."""
        return self._puts_in_close or urlsplit(self.text).scheme in _OBJECT_STORES

    @property
    def above(self) -> tuple[DistantFolder, str]:
        """Return the folder that this one is in, and its name there; raises AddressError where it is in none."""
        if not urlsplit(self.text).path.strip("/"):
            raise AddressError(f"{self.text} is the root of a file system; name a folder in it.")
        parent, _, name = self.text.rpartition("/")
        text = parent if urlsplit(parent).path else f"{parent}/"
        return replace(self, text=text), name

    def has(self, name: str) -> bool:
        """Whether a file or a folder is there."""
        with self._told("read", name):
            return bool(self.system.exists(self._path(name)))

    @cached_property
    def _puts_in_close(self) -> bool:
        with self._told("read", ""):
            return bool(self.system.hasPathCapability(self._path(""), _ONLY_WHERE_NONE_IS))

    def _context(self) -> Any:
        return self.hadoop.context.getFileContext(self.system.getUri(), self.system.getConf())

    def _path(self, name: str) -> Any:
        return self.hadoop.path(self.address(name))

    def _put_in_close(self, name: str, data: bytes, hit: Callable[[str], None]) -> None:
        builder = self.system.createFile(self._path(name)).create().overwrite(True)
        stream = builder.must(_ONLY_WHERE_NONE_IS, True).build()
        stream.write(bytearray(data))
        hit("version-written")
        stream.close()

    def _put_by_renaming(self, name: str, data: bytes, hit: Callable[[str], None]) -> None:
        folder, _, last = name.rpartition("/")
        unfinished = self._path(f"{folder}/{_hidden(last)}" if folder else _hidden(last))
        try:
            stream = self.system.create(unfinished, False)
            stream.write(bytearray(data))
            if stream.hasCapability("hsync"):
                stream.hsync()
            stream.close()
            hit("version-written")
            self._context().rename(unfinished, self._path(name), self.hadoop.only_where_none_is)
        finally:
            with suppress(*JAVA_ERRORS):
                self.system.delete(unfinished, False)

    def _read(self, name: str) -> bytes | None:
        try:
            with self.copies([name]) as (file,):
                return file.read_bytes()
        except FileNotFoundError:
            return None

    def _fetch(self, name: str, file: Path) -> None:
        with self._told("read", name):
            try:
                here = self.hadoop.path(f"file://{file}")
                # As it is, without a file of checksums beside it.
                self.system.copyToLocalFile(False, self._path(name), here, True)
            except JAVA_ERRORS as error:
                if _is(error, "FileNotFoundException"):
                    raise FileNotFoundError(2, os.strerror(2), self.address(name)) from error
                raise

    def send(self, file: Path, name: str) -> None:
        """Put a file of this machine, in the place of one that is there."""
        with self._told("written", name):
            here = self.hadoop.path(f"file://{file}")
            self.system.copyFromLocalFile(False, True, here, self._path(name))

    def _in(self, name: str) -> list[Any]:
        """Return what Hadoop says of each file and folder in a folder; none where it is not there."""
        with self._told("read", name):
            try:
                return list(self.system.listStatus(self._path(name)))
            except JAVA_ERRORS as error:
                if _is(error, "FileNotFoundException"):
                    return []
                raise

    def _all_below(self, name: str) -> Iterator[tuple[str, Any]]:
        """Yield the files below a folder: the name, and what Hadoop says of it."""
        with self._told("read", name):
            start = len(self._path("").toString().rstrip("/")) + 1
            try:
                found = self.system.listFiles(self._path(name), True)
                while found.hasNext():
                    one = found.next()
                    yield str(one.getPath().toString())[start:], one
            except JAVA_ERRORS as error:
                if not _is(error, "FileNotFoundException"):
                    raise

    @contextmanager
    def _told(self, done: str, name: str) -> Iterator[None]:
        try:
            yield
        except JAVA_ERRORS as error:
            cause = cause_of(error, secrets=_secrets(self.hadoop.spark))
            raise StorageError(f"{self.address(name)} cannot be {done}: {cause}") from error


def _written_at(status: Any) -> float:
    return int(status.getModificationTime()) / 1000


def _secrets(spark: SparkSession) -> tuple[str, ...]:
    return secrets_in(dict(spark.sparkContext.getConf().getAll()))


def _is(error: Exception, name: str) -> bool:
    """Whether an exception of Java has a class of this name."""
    java: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    return java is not None and str(java.getClass().getSimpleName()) == name


def _why_no_system(text: str, spark: SparkSession, error: Exception) -> Exception:
    """Return the error for an address that leads to no file system."""
    cause = cause_of(error, secrets=_secrets(spark))
    scheme = urlsplit(text).scheme
    if _is(error, "UnsupportedFileSystemException") or "ClassNotFoundException" in cause:
        return AddressError(
            f"Spark has no file system for {scheme}:// here ({text}); give its jars with --conf spark.jars=… or "
            "--conf spark.jars.packages=…, or use another file system."
        )
    is_of_the_address = _is(error, "IllegalArgumentException") or "no host" in cause
    if is_of_the_address and "UnknownHostException" not in cause:
        return AddressError(f"{text} is no address of a folder: {cause}")
    return StorageError(f"{text} cannot be reached: {cause}")

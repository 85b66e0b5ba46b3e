"""Which log files are at an address of another file system, and how do they begin?

Spark's own reader of files is asked, so what it opens for a job is what is looked at here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from aclweb.pipeline.failures import SPARK_ERRORS


def distant_files(spark: SparkSession, address: str, size: int) -> Mapping[str, bytes]:
    """Return the files that an address means, with the first `size` bytes of each, decompressed.

    Empty where that cannot be told; the job itself then says why.
    """
    jvm: Any = spark._jvm
    hadoop = jvm.org.apache.hadoop
    conf = spark._jsc.hadoopConfiguration()
    try:
        path = hadoop.fs.Path(address)
        system = path.getFileSystem(conf)
        found = [status.getPath() for status in system.globStatus(path) or ()]
        files = [file for each in found for file in _files_in(system, each)]
        codecs = hadoop.io.compress.CompressionCodecFactory(conf)
        return {_address(file): _beginning(jvm, system, codecs, file, size) for file in files}
    except SPARK_ERRORS:
        return {}


def _address(path: Any) -> str:
    """Return the address of a file with two slashes behind its scheme, also where it has no host."""
    text = str(path.toString())
    return text if "://" in text else text.replace(":/", ":///", 1)


def _files_in(system: Any, path: Any) -> list[Any]:
    if not system.getFileStatus(path).isDirectory():
        return [path]
    inside = [status for status in system.listStatus(path) if not status.isDirectory()]
    return [one.getPath() for one in inside if not one.getPath().getName().startswith((".", "_"))]


def _beginning(jvm: Any, system: Any, codecs: Any, file: Any, size: int) -> bytes:
    opened = system.open(file)
    try:
        codec = codecs.getCodec(file)
        stream = opened if codec is None else codec.createInputStream(opened)
        bounded = jvm.org.apache.commons.io.input.BoundedInputStream(stream, size)
        return bytes(jvm.org.apache.commons.io.IOUtils.toByteArray(bounded))
    finally:
        opened.close()

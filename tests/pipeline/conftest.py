"""One Spark for all tests of a run, started by the first that needs it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from aclweb.clusters.embedded import java_home
from tests.servers import need_java


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    need_java()
    os.environ["JAVA_HOME"] = str(java_home())
    from aclweb.pipeline.session import spark_session

    with spark_session("local[2]", brief=True) as session:
        yield session

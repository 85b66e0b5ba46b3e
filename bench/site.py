"""How is the site run and used for a measurement, as `./run` does and as a person does?"""

from __future__ import annotations

import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlencode

PASSWORD = "a long pass phrase"
_ROOT = Path(__file__).resolve().parents[1]


def set_up_django(directory: Path, *, database: str | None = None, encryption_key: str | None = None) -> None:
    """Set Django up on a throw-away data directory; database: its address, SQLite unless given.

    encryption_key: the one of an earlier process on the same database.
    """
    from cryptography.fernet import Fernet

    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "aclweb.settings",
        "ACLWEB_DATA_DIR": str(directory),
        "ACLWEB_SECRET_KEY": "a key for one measurement, thrown away with it, long enough",
        "ACLWEB_ENCRYPTION_KEYS": encryption_key or Fernet.generate_key().decode(),
        "ACLWEB_ALLOWED_HOSTS": "testserver",
        "ACLWEB_LOG_LEVEL": "error",
    }
    os.environ.pop("DATABASE_URL", None)
    if database:
        os.environ["DATABASE_URL"] = database
    import django

    django.setup()


def make_tables(directory: Path, made: Path | None = None) -> None:
    """Give the site its tables and its static files; made: an SQLite file that has the tables already."""
    from django.core.management import call_command

    if made:
        shutil.copy(made, directory / "aclweb.sqlite3")
    else:
        call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)


@contextmanager
def running(directory: Path) -> Iterator[tuple[int, int]]:
    """Run the site as `./run` does; yields its port and the process that answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(sys.executable, "-m", "gunicorn", "aclweb.wsgi", "--bind", f"127.0.0.1:{port}"),
        *("--worker-class", "aclweb.site_worker.SiteWorker", "--workers", "1", "--threads", "8"),
        *("--limit-request-line", "8190", "--timeout", "60", "--log-level", "warning"),
    ]
    with (directory / "site.log").open("w") as log, subprocess.Popen(command, stderr=log, stdout=log) as site:
        try:
            _until_ready(port)
            children = Path(f"/proc/{site.pid}/task/{site.pid}/children").read_text().split()
            yield port, int(children[0])
        finally:
            site.terminate()
            site.wait(20)


@contextmanager
def working(out: TextIO) -> Iterator[subprocess.Popen[bytes]]:
    """Run the beat and the workers as a deployment does."""
    command = [sys.executable, str(_ROOT / "manage.py"), "work"]
    with subprocess.Popen(command, stdout=out, stderr=out, process_group=0) as master:
        try:
            yield master
        finally:
            with suppress(ProcessLookupError):
                master.send_signal(signal.SIGTERM)
            try:
                master.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(master.pid, signal.SIGKILL)


def _until_ready(port: int) -> None:
    for _ in range(300):
        try:
            if Browser(port).ask("GET", "/healthz").status == 200:
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise SystemExit("The site did not start.")


def edited_since(moment: float, root: Path = _ROOT) -> list[str]:
    """Return the files of the site that were edited after the moment (seconds since 1970), as paths below the root.

    The site loads them while it answers: with tables of before, or half of an edit, a page may fail.
    """
    files = [each for part in ("aclweb", "templates", "static") for each in (root / part).rglob("*.*")]
    return sorted(
        str(each.relative_to(root))
        for each in files
        if "__pycache__" not in each.parts and each.is_file() and each.stat().st_mtime > moment
    )


def cpu_seconds(process: int) -> float:
    """Return the CPU seconds that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(process: int) -> float:
    """Return the memory that a process takes now (RSS)."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def waited_seconds(process: int) -> float:
    """Return the seconds that the threads of a process could have run and had no core."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[1]) for thread in threads) / 1e9


class Browser:
    """One person's session: cookies, and the token that forms send."""

    def __init__(self, port: int) -> None:
        self._port, self._cookies = port, dict[str, str]()
        self.text = ""

    def ask(self, method: str, path: str, form: dict[str, Any] | None = None) -> http.client.HTTPResponse:
        asking = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        body = None
        if form is not None:
            body = urlencode({**form, "csrfmiddlewaretoken": self._token()})
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        asking.request(method, path, body, headers)
        answer = asking.getresponse()
        self.text = answer.read().decode()
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        asking.close()
        return answer

    def sign_in(self, name: str) -> None:
        answer = self.ask("POST", "/sign-in/", {"username": name, "password": PASSWORD})
        if answer.status != 302:
            raise AssertionError(f"A sign-in answered {answer.status}.")

    def _token(self) -> str:
        return self.field("csrfmiddlewaretoken")

    def field(self, name: str) -> str:
        """Return the value of a hidden field of the last page."""
        found = re.search(rf'name="{name}" value="([^"]*)"', self.text)
        if found is None:
            raise AssertionError(f"The last page has no field {name}.")
        return found[1]

"""The site's own settings with the secrets and the speed that tests need.

Environment values are set first and only where nobody has given one, so processes that
a test starts inherit them, and `DATABASE_URL=... ./test` runs everything on PostgreSQL.
"""

import os
import tempfile

from cryptography.fernet import Fernet

os.environ.setdefault(
    "ACLWEB_SECRET_KEY", "for tests only, and long enough to pass the deployment checks 0123456789"
)
os.environ.setdefault("ACLWEB_ENCRYPTION_KEYS", Fernet.generate_key().decode("ascii"))
# Each worker of pytest-xdist has a directory of its own: its queue and its locks are nobody else's.
_worker = os.environ.get("PYTEST_XDIST_WORKER", "")
if "ACLWEB_DATA_DIR" not in os.environ or os.environ.get("ACLWEB_TESTS_WORKER", _worker) != _worker:
    # Goes when the process that made it ends; the processes that it starts share it.
    os.environ["ACLWEB_TESTS_WORKER"] = _worker
    _data = tempfile.TemporaryDirectory(prefix="aclweb-tests-")
    os.environ["ACLWEB_DATA_DIR"] = _data.name
    os.mkdir(os.path.join(_data.name, "static"))
os.environ.setdefault("ACLWEB_LOG_LEVEL", "warning")

from aclweb.settings import *  # noqa: E402, F403

INSTALLED_APPS = [*INSTALLED_APPS, "devstack"]  # noqa: F405
ALLOWED_HOSTS = ["*"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Emptied before each test (tests/conftest.py), so that no test meets the counters of another one.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
# Tests roll their events back; the test of kept heads switches this on for itself.
ACLWEB_AUDIT_HEADS = ""

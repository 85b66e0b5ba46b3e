"""Settings come from the environment, refuse to start without secrets, and hold what the documents promise."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from cryptography.fernet import Fernet
from django.conf import settings

from aclweb.celery import app
from aclweb.operations import workers
from aclweb.runtime import keys

ROOT = Path(__file__).resolve().parents[1]
SETTINGS_TEXT = (ROOT / "aclweb" / "settings.py").read_text(encoding="utf-8")
SECRET = "a secret of more than fifty characters, made up for this test only 0123456789"
FERNET = Fernet.generate_key().decode("ascii")


# Every module of the product that touches the environment beside the settings, and what for.
ENVIRONMENT_ELSEWHERE = {
    "aclweb/wsgi.py": {"os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'aclweb.settings')"},
    "aclweb/celery.py": {"os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'aclweb.settings')"},
    # A child inherits the environment.
    "aclweb/runtime/child_process.py": {"{**os.environ, **more}"},
    # The pipeline's command runs where no settings of a site are.
    "aclweb/pipeline/environment.py": {
        *(f"os.environ.get('{name}', '')" for name in ("JAVA_HOME", "SPARK_CONF_DIR", "MASTER")),
        "os.environ.get('ACLWEB_SPARK_MEMORY', '')",
        "'PYSPARK_GATEWAY_PORT' in os.environ",
        "os.environ.setdefault(name, value)",
    },
}


def environment_uses(text):
    """Return the expressions of a module that hold the environment, as text, the smallest that say what for."""
    tree = ast.parse(text)
    around = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    uses = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr="environ" | "environb" | "getenv" | "getenvb" | "expandvars"):
                use = around[node]
                while isinstance(use, ast.Attribute) or (
                    isinstance(around[use], ast.Call) and around[use].func is use
                ):
                    use = around[use]
                uses.add(ast.unparse(use))
            case ast.ImportFrom(module="os" | "os.path" | "posix"):
                uses.add(ast.unparse(node))
    return uses


def known_names():
    """Return every environment name that the program reads."""
    read = set(re.findall(r'env\.\w+\(\s*"(\w+)"', SETTINGS_TEXT))
    jars = (ROOT / "devstack" / "jars.py").read_text(encoding="utf-8")
    return read | set(re.findall(r'"(ACLWEB_\w+)"', jars))


def under(environment, script):
    """Run a line of Python with only this environment and return its exit status, output and errors."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    answer = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return answer.returncode, answer.stdout.strip(), answer.stderr


def setting(name, tmp_path, **environment):
    """Return what a setting is under this environment, as text."""
    base = {"ACLWEB_DATA_DIR": str(tmp_path), "ACLWEB_SECRET_KEY": SECRET, "ACLWEB_ENCRYPTION_KEYS": FERNET}
    status, out, errors = under(base | environment, f"from aclweb import settings; print(settings.{name})")
    assert status == 0, errors
    return out


# --- What documents promise ---


def test_compose_sets_only_names_that_the_program_reads():
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    for name in ("migrate", "web", "worker", "searcher", "beat"):
        given = set(services[name]["environment"])

        assert given <= known_names(), f"{name} gets names that nothing reads"
        assert {"ACLWEB_SECRET_KEY", "ACLWEB_ENCRYPTION_KEYS", "DATABASE_URL", "CELERY_BROKER_URL"} <= given


def test_compose_runs_every_worker_and_one_beat_and_starts_again_what_ends():
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    working = [
        name
        for service in services.values()
        if service.get("command", [])[1:3] == ["manage.py", "work"]
        for name in service["command"][3:]
    ]

    assert sorted(working) == sorted(workers.NAMES)
    for name in ("web", "worker", "searcher", "beat", "postgres", "redis"):
        assert services[name]["restart"] == "unless-stopped"


def test_compose_builds_targets_that_the_dockerfile_has():
    targets = set(re.findall(r"^FROM \S+ AS (\w+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]

    assert {"web", "spark"} <= targets
    assert {service["build"]["target"] for service in services.values() if "build" in service} <= targets


@pytest.mark.parametrize(
    "file", ["README.md", "CHANGELOG.md", "Dockerfile", "docker-compose.yml", "run", "test"]
)
def test_every_setting_that_a_document_names_exists(file):
    named = set(re.findall(r"\bACLWEB_[A-Z_]*[A-Z]\b", (ROOT / file).read_text(encoding="utf-8")))

    # The two ports and folders that compose itself reads are no settings of the program.
    assert named - {"ACLWEB_PORT", "ACLWEB_LOGS"} <= known_names()


def test_every_setting_of_ours_is_named_like_its_environment_variable_and_explained():
    lines = SETTINGS_TEXT.splitlines()
    read = [
        (statement, ast.literal_eval(node.args[0]))
        for statement in ast.parse(SETTINGS_TEXT).body
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).startswith("env.")
    ]
    assert len(read) > 30
    for statement, name in read:
        target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
        if target.id.startswith("ACLWEB_"):
            assert target.id == name
        above = statement.lineno - 2
        while lines[above].startswith("ACLWEB_"):
            above -= 1
        assert lines[above].startswith("#"), f"{name} needs a sentence above it"


def test_the_product_reads_its_environment_in_its_settings_alone():
    found = {}
    for file in sorted((ROOT / "aclweb").rglob("*.py")):
        name = str(file.relative_to(ROOT))
        if name != "aclweb/settings.py" and (uses := environment_uses(file.read_text(encoding="utf-8"))):
            found[name] = uses

    assert found == ENVIRONMENT_ELSEWHERE


@pytest.mark.parametrize(
    "text",
    [
        "os.environ['ACLWEB_X']",
        "os.environ.get('ACLWEB_X')",
        "os.getenv('ACLWEB_X')",
        "from os import environ",
        "from os import getenv as read",
        "given = os.environ",
        "os.path.expandvars('$ACLWEB_X')",
    ],
)
def test_each_way_to_read_the_environment_is_seen(text):
    assert environment_uses(text)


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert settings.ACLWEB_VERSION == project["version"] == settings.SPECTACULAR_SETTINGS["VERSION"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_entry_of_the_schedule_is_a_task_that_exists():
    app.loader.import_default_modules()

    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= set(app.tasks)


# --- Secrets ---


def test_without_secrets_nothing_starts_and_the_sentence_says_what_to_do(tmp_path):
    status, _, errors = under({"ACLWEB_DATA_DIR": str(tmp_path)}, "import aclweb.settings")

    assert status != 0
    assert "There is no ACLWEB_SECRET_KEY: set that environment variable, or type ./run once" in errors
    assert list(tmp_path.iterdir()) == [], "only `up` makes secrets"


def test_a_wrong_encryption_key_is_refused_by_its_position_and_never_shown(tmp_path):
    environment = {"ACLWEB_DATA_DIR": str(tmp_path), "ACLWEB_SECRET_KEY": SECRET}

    status, _, errors = under(
        environment | {"ACLWEB_ENCRYPTION_KEYS": f"{FERNET},not-a-key"}, "import aclweb.settings"
    )

    assert status != 0
    assert "Key 2 of ACLWEB_ENCRYPTION_KEYS is not a Fernet key" in errors
    assert "not-a-key" not in errors
    assert FERNET not in errors


def test_missing_keys_are_made_once_and_are_private(tmp_path):
    assert keys.make_missing(tmp_path) == ["secret_key", "encryption_keys"]
    made = (tmp_path / "secret_key").read_text(), (tmp_path / "encryption_keys").read_text()

    assert keys.make_missing(tmp_path) == []

    assert ((tmp_path / "secret_key").read_text(), (tmp_path / "encryption_keys").read_text()) == made
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("secret_key", "encryption_keys")} == {0o600}
    status, out, errors = under(
        {"ACLWEB_DATA_DIR": str(tmp_path)}, "from aclweb.settings import *; print(SECRET_KEY)"
    )
    assert (status, out) == (0, made[0].strip()), errors


# --- Safe defaults ---


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEBUG", "False"),
        ("TIME_ZONE", "UTC"),
        ("ALLOWED_HOSTS", "['localhost', '127.0.0.1', '[::1]']"),
        ("ACLWEB_SHELL_CHANGES", "False"),
        ("ACLWEB_METRICS", "False"),
        ("CELERY_BROKER_URL", "acfs://"),
        ("SECURE_PROXY_SSL_HEADER", "None"),
        ("PASSWORD_HASHERS[0]", "django.contrib.auth.hashers.Argon2PasswordHasher"),
    ],
)
def test_an_empty_environment_gives_safe_settings(name, value, tmp_path):
    assert setting(name, tmp_path) == value


def test_https_makes_cookies_secure_and_bound_to_the_host(tmp_path):
    assert setting("SESSION_COOKIE_NAME", tmp_path, ACLWEB_HTTPS="true") == "__Host-aclweb-session"
    assert setting("CSRF_COOKIE_NAME", tmp_path, ACLWEB_HTTPS="true") == "__Host-aclweb-csrf"
    assert setting("SESSION_COOKIE_SECURE", tmp_path, ACLWEB_HTTPS="true") == "True"
    assert setting("SESSION_COOKIE_SECURE", tmp_path) == "False", "a demo on http could not sign in"


def test_the_database_comes_from_one_address(tmp_path):
    assert setting("DATABASES['default']['NAME']", tmp_path) == str(tmp_path / "aclweb.sqlite3")
    assert setting("DATABASES['default']['OPTIONS']['transaction_mode']", tmp_path) == "IMMEDIATE"

    url = "postgres://aclweb:p%40ss@db.example:5433/acls"
    assert (
        setting("DATABASES['default']['ENGINE']", tmp_path, DATABASE_URL=url)
        == "django.db.backends.postgresql"
    )
    assert setting("DATABASES['default']['PASSWORD']", tmp_path, DATABASE_URL=url) == "p@ss"


def test_pages_forbid_scripts_and_styles_that_are_not_ours():
    policy = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]

    assert policy["default-src"] == ["'none'"]
    assert not any("unsafe" in str(source) for sources in policy.values() for source in sources)
    assert {"frame-ancestors", "base-uri", "form-action", "object-src"} <= set(policy)


# --- Logs ---


def test_a_log_record_is_one_line_of_json_whatever_a_name_contains(tmp_path):
    script = (
        "import django, logging; django.setup()\n"
        "logging.getLogger('aclweb.test').warning('Read topic %s.', 'a\\nb\\u202e\\x1b[31m')"
    )
    environment = {
        "ACLWEB_DATA_DIR": str(tmp_path),
        "ACLWEB_SECRET_KEY": SECRET,
        "ACLWEB_ENCRYPTION_KEYS": FERNET,
    }

    status, _, errors = under(environment | {"DJANGO_SETTINGS_MODULE": "aclweb.settings"}, script)

    lines = errors.strip().splitlines()
    assert status == 0
    assert len(lines) == 1
    assert yaml.safe_load(lines[0])["level"] == "warning"
    assert "\x1b" not in lines[0]

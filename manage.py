#!/usr/bin/env python
"""Run one of the operator's commands: `python manage.py COMMAND`, `python manage.py help` lists them."""

import importlib.util
import os
import sys
from pathlib import Path

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import DatabaseError

from aclweb.runtime import datadir, keys, loading, storage

# These ask nothing of the database, or tell themselves what is wrong with it.
WITHOUT_DATABASE = {
    "help",
    "version",
    "check",
    "collectstatic",
    "doctor",
    "makemigrations",
    "restore",
    "spectacular",
}
WITHOUT_DATABASE |= {"--version", "--help", "-h", "diffsettings", "findstatic", "startapp", "test"}
# These go on until they are ended, and their logs are what they show.
SERVING = frozenset({"up", "work", "runserver"})
PRODUCT = "aclweb.settings"
OF_THE_DEV_STACK = frozenset({"up", "seed"})
# These bring an older one up to date, or look at how old it is.
MAKING_DATABASE = frozenset({"up", "migrate", "showmigrations", "sqlmigrate", "dbshell", "backup"})


def data_directory() -> Path:
    """Return what the setting ACLWEB_DATA_DIR will be; settings cannot be read before the keys are there."""
    return datadir.data_directory(os.environ.get("ACLWEB_DATA_DIR", ""))


def prepare(options: list[str]) -> None:
    """Make what the settings need to be read at all: `up` is the command that works on an empty machine."""
    directory = data_directory()
    if "--reset" in options:
        aside = datadir.set_aside(directory)
        print(f"What was in {directory} is now in {aside}." if aside else f"{directory} is empty already.")
    keys.make_missing(directory)


def require_database(command: str) -> None:
    """End with a sentence unless the database is of this release; some commands are there to make it so."""
    with loading.without_garbage_collection():
        django.setup()
    if (problem := storage.schema_problem()) and not (
        command in MAKING_DATABASE and problem.startswith(storage.OLDER)
    ):
        sys.exit(problem)


def log_to_readers_only(arguments: list[str]) -> None:
    """Log warnings alone where a person reads the terminal, or a program the JSON: both asked for something else."""
    is_read = sys.stderr.isatty() or "--json" in arguments
    is_usual = os.environ.get("ACLWEB_LOG_LEVEL", "info").lower() == "info"
    if is_read and is_usual and not SERVING & set(arguments[1:2]):
        os.environ["ACLWEB_LOG_LEVEL"] = "warning"


def settings_for(arguments: list[str]) -> str:
    """Return the settings for this command: those of the stack on one machine know two commands more."""
    named = os.environ.get("DJANGO_SETTINGS_MODULE", PRODUCT)
    if named != PRODUCT or not {*arguments[1:2], *arguments[2:3]} & OF_THE_DEV_STACK:
        return named
    if importlib.util.find_spec("devstack") is None:
        sys.exit(
            f"`{' '.join(arguments[1:2])}` starts a whole stack with a demo; it is no part of what is deployed."
        )
    return "devstack.settings"


def main(arguments: list[str]) -> None:
    """Run the command; what keeps it from running is told in a sentence, with exit status 1 or 2."""
    os.environ["DJANGO_SETTINGS_MODULE"] = settings_for(arguments)
    log_to_readers_only(arguments)
    try:
        if arguments[1:2] == ["up"] and not {"-h", "--help"} & set(arguments):
            prepare(arguments[2:])
        if arguments[1:2] == ["restore"]:
            # The backup brings its own keys; until then the settings want some to be read at all.
            for variable, secret in keys.passing(data_directory()).items():
                os.environ.setdefault(variable, secret)
        datadir.make_private(data_directory())
        if arguments[1:2] and arguments[1] not in WITHOUT_DATABASE and not {"-h", "--help"} & set(arguments):
            require_database(arguments[1])
        execute_from_command_line(arguments)
    except (datadir.DataDirectoryError, keys.KeysError) as error:
        sys.exit(str(error))
    except (DatabaseError, OSError) as error:
        if sentence := storage.sentence_of(error):
            sys.exit(sentence)
        raise
    except ImproperlyConfigured as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main(sys.argv)

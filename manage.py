#!/usr/bin/env python
"""Run one of the operator's commands: `python manage.py COMMAND`, `python manage.py help` lists them."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from aclweb import datadir, keys


def prepare(options: list[str]) -> None:
    """Make what the settings need to be read at all: `up` is the command that works on an empty machine."""
    directory = datadir.data_directory()
    if "--reset" in options:
        aside = datadir.set_aside(directory)
        print(f"What was in {directory} is now in {aside}." if aside else f"{directory} is empty already.")
    keys.make_missing(directory)


def main(arguments: list[str]) -> None:
    """Run the command; what keeps it from running is told in a sentence, with exit status 1 or 2."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aclweb.settings")
    try:
        if arguments[1:2] == ["up"] and not {"-h", "--help"} & set(arguments):
            prepare(arguments[2:])
        datadir.make_private(datadir.data_directory())
        execute_from_command_line(arguments)
    except datadir.DataDirectoryError as error:
        sys.exit(str(error))
    except ImproperlyConfigured as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main(sys.argv)

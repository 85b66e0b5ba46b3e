#!/usr/bin/env python
"""Run one of the operator's commands: `python manage.py COMMAND`, `python manage.py help` lists them."""

import os
import sys

from django.core.management import execute_from_command_line

from aclweb import datadir, keys


def prepare(options: list[str]) -> None:
    """Make what the settings need to be read at all: `up` is the command that works on an empty machine."""
    directory = datadir.data_directory()
    if "--reset" in options:
        aside = datadir.set_aside(directory)
        print(f"What was in {directory} is now in {aside}." if aside else f"{directory} is empty already.")
    keys.make_missing(directory)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aclweb.settings")
    if sys.argv[1:2] == ["up"] and not {"-h", "--help"} & set(sys.argv):
        try:
            prepare(sys.argv[2:])
        except datadir.DataDirectoryError as error:
            sys.exit(str(error))
    execute_from_command_line(sys.argv)

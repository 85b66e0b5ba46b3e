#!/usr/bin/env python
"""Run one of the operator's commands: `python manage.py COMMAND`, `python manage.py help` lists them."""

import os
import sys

from django.core.management import execute_from_command_line

from aclweb import keys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aclweb.settings")
    if sys.argv[1:2] == ["up"]:
        # The settings need the keys, and `up` is the command that works on an empty machine.
        keys.make_missing(keys.data_directory())
    execute_from_command_line(sys.argv)

"""Which parts of the code does the recorder know by name?

These and no others. A module that moves is mended here; everything else goes by command lines, by HTTP, by Django's
registries and by the names of database tables. Where a name has moved, the older one stands beside it, so that the
tool runs on commits before the move and after it.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

SETTINGS = "tools.facts.settings"

# The site with every state that a page can show, which tests press every button of.
WORLD = ("tests.web.world",)
# The company of the demo, with the function `snapshot_text`.
COMPANY = ("devstack.demo.company", "demo.company")
# The application that tasks register with.
CELERY = ("aclweb.celery", "aclweb.runtime.celery")


def world() -> ModuleType:
    return _first(WORLD)


def company() -> ModuleType:
    return _first(COMPANY)


def celery() -> Any:
    return _first(CELERY).app


def _first(names: tuple[str, ...]) -> ModuleType:
    for name in names[:-1]:
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not name.startswith(error.name):
                raise
    return import_module(names[-1])

"""Register the audit verbs of this app in every process, so that each can show the audit trail."""

from importlib import import_module

from django.apps import AppConfig

# The modules that register verbs; they import models, so they wait until the apps are loaded.
_VERBS = (
    "aclweb.changes.gate_settings",
    "aclweb.changes.management.commands.change",
    "aclweb.changes.moving.switching",
    "aclweb.changes.removed_clusters",
    "aclweb.changes.review",
    "aclweb.changes.rollout",
)


class ChangesConfig(AppConfig):
    name = "aclweb.changes"

    def ready(self) -> None:
        for module in _VERBS:
            import_module(module)

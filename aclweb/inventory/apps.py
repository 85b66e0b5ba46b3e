"""Make the verbs of this room known to every process: an audit trail is shown in words everywhere."""

from importlib import import_module

from django.apps import AppConfig

# The modules that register verbs; they import models, so they wait until the apps are loaded.
_VERBS = (
    "aclweb.inventory.admin.declare",
    "aclweb.inventory.sync.quarantine",
    "aclweb.inventory.admin.log_sources",
    "aclweb.inventory.admin.encryption",
    "aclweb.inventory.admin.owners",
    "aclweb.inventory.admin.pausing",
    "aclweb.inventory.admin.principal_names",
    "aclweb.inventory.admin.register",
    "aclweb.inventory.admin.removing",
    "aclweb.inventory.sync.run",
)


class InventoryConfig(AppConfig):
    name = "aclweb.inventory"

    def ready(self) -> None:
        for module in _VERBS:
            import_module(module)

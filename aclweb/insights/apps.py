"""At the start of every process: make the verbs of this room known, refuse settings with which no log job starts."""

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from aclweb.pipeline import environment

# The modules that register verbs; they import models, so they wait until the apps are loaded.
_VERBS = ("aclweb.insights.denial_marks", "aclweb.insights.removed_clusters", "aclweb.insights.retired")


class InsightsConfig(AppConfig):
    name = "aclweb.insights"

    def ready(self) -> None:
        for module in _VERBS:
            import_module(module)
        if not settings.ACLWEB_SPARK_MASTER:
            return
        try:
            environment.check_master(settings.ACLWEB_SPARK_MASTER)
            environment.check_memory(settings.ACLWEB_SPARK_MEMORY)
        except environment.SettingError as error:
            raise ImproperlyConfigured(str(error)) from error

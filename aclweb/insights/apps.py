"""Refuse settings of Spark's that no log job could start with, in every process and at its start."""

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from aclweb.pipeline import environment


class InsightsConfig(AppConfig):
    name = "aclweb.insights"

    def ready(self) -> None:
        if not settings.ACLWEB_SPARK_MASTER:
            return
        try:
            environment.check_master(settings.ACLWEB_SPARK_MASTER)
            environment.check_memory(settings.ACLWEB_SPARK_MEMORY)
        except environment.SettingError as error:
            raise ImproperlyConfigured(str(error)) from error

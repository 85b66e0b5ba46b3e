"""The pages as a Django app: measures each request from its beginning."""

from django.apps import AppConfig
from django.core.signals import request_started

from aclweb.web.shell import render_time


class WebConfig(AppConfig):
    name = "aclweb.web"

    def ready(self) -> None:
        request_started.connect(render_time.start, dispatch_uid="aclweb.web.shell.render_time")

"""Which address shows which page."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []

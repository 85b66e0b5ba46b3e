"""A page is one feature folder: its views and addresses, its templates and its styles have the feature's name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver

from aclweb.web import urls

ROOT = settings.BASE_DIR
FEATURES = sorted(path.parent.name for path in (ROOT / "aclweb" / "web").glob("*/urls.py"))
TEMPLATES = ROOT / "templates"
STYLES = ROOT / "static" / "css"
NAMED = re.compile(r"""["']([\w/]+\.html)["']""")


def folders(place):
    return sorted(path.name for path in place.iterdir() if path.is_dir())


def test_each_feature_has_a_table_of_its_addresses_and_no_address_is_elsewhere():
    included = [resolver.urlconf_name.__name__ for resolver in urls.urlpatterns]

    assert sorted(included) == [f"aclweb.web.{name}.urls" for name in FEATURES]
    assert len(FEATURES) == 7


@pytest.mark.parametrize("resolver", urls.urlpatterns, ids=lambda each: each.urlconf_name.__name__)
def test_the_views_of_a_feature_are_in_its_folder(resolver):
    room = resolver.urlconf_name.__name__.removesuffix(".urls")
    views = {pattern.callback.__module__ for pattern in resolver.url_patterns}

    assert views
    assert {view for view in views if not view.startswith(f"{room}.")} == set()


def test_templates_and_styles_are_in_a_folder_of_a_feature():
    assert folders(TEMPLATES) == FEATURES
    assert set(folders(STYLES)) <= set(FEATURES)
    assert [path.name for path in TEMPLATES.glob("*.html")] == []
    assert [path.name for path in STYLES.glob("*.css")] == ["site.css"]


def test_each_template_is_used_and_each_that_is_named_exists():
    there = {str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html")}
    sources = [*TEMPLATES.rglob("*.html"), *(ROOT / "aclweb" / "web").rglob("*.py")]
    named = {name for path in sources for name in NAMED.findall(path.read_text(encoding="utf-8"))}

    assert named - there == set()
    assert there - named == set()


def test_a_template_of_one_feature_is_rendered_by_no_view_of_another():
    def feature(path: Path) -> str:
        """Return whose templates a file may render; tags are for all pages, as the shell is."""
        first = path.relative_to(ROOT / "aclweb" / "web").parts[0]
        return "shell" if first == "templatetags" else first

    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / "aclweb" / "web").rglob("*.py")
        for name in NAMED.findall(path.read_text(encoding="utf-8"))
        if not name.startswith(f"{feature(path)}/")
    ]

    assert found == []


def test_each_style_sheet_is_imported_once_by_the_one_that_pages_link():
    imported = re.findall(
        r'@import url\("([\w/]+\.css)"\)', (STYLES / "site.css").read_text(encoding="utf-8")
    )
    there = [str(path.relative_to(STYLES)) for path in STYLES.rglob("*.css") if path.name != "site.css"]

    assert sorted(imported) == sorted(there)


def test_two_features_never_share_an_address():
    def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> list[str]:
        found = []
        for each in patterns:
            route = before + str(each.pattern)
            found += routes(each.url_patterns, route) if isinstance(each, URLResolver) else [route]
        return found

    every = routes(get_resolver().url_patterns)

    assert len(every) == len(set(every)) > 40

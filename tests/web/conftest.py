"""What crawls over many pages share."""

from __future__ import annotations

import pytest


@pytest.fixture
def unrecorded(monkeypatch) -> None:
    """Have Django's test client keep no templates and contexts: who reads only answers saves copying them."""
    monkeypatch.setattr("django.test.client.store_rendered_templates", lambda *_, **__: None)

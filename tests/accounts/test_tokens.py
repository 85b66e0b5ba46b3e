from datetime import timedelta

import pytest
from django.db import connection as database
from django.utils import timezone

from aclweb.accounts import tokens
from aclweb.accounts.models import ApiToken
from aclweb.audit import trail
from aclweb.audit.models import Event

pytestmark = pytest.mark.django_db


def test_a_token_is_found_by_its_secret_with_its_owner(ada):
    token, secret = tokens.issue(ada, "deploy", 30)

    assert secret.startswith("aclw_")
    assert len(secret) == 48
    assert tokens.check(secret) == token
    assert tokens.check(secret).owner == ada


def test_the_secret_is_kept_nowhere(ada):
    _, secret = tokens.issue(ada, "deploy", 30)

    dump = (
        "\n".join(database.connection.iterdump())
        if database.vendor == "sqlite"
        else str(list(ApiToken.objects.values()))
    )
    assert secret not in dump
    assert secret[20:] not in dump


@pytest.mark.parametrize(
    "change", [lambda s: s[:-1] + ("A" if s[-1] != "A" else "B"), lambda s: s + "A", lambda s: ""]
)
def test_a_secret_that_differs_anywhere_is_refused(ada, change):
    _, secret = tokens.issue(ada, "deploy", 30)

    assert tokens.check(change(secret)) is None


@pytest.mark.parametrize(
    "text", ["", "aclw_", "aclw_\x00", "Bearer x", "é" * 48, "aclw_" + "\x00" * 43, "a" * 100_000]
)
def test_a_text_that_is_no_token_is_no_error(text, ada):
    assert tokens.check(text) is None


def test_a_token_ends_with_its_day_with_its_owner_and_with_its_revocation(ada):
    token, secret = tokens.issue(ada, "deploy", 1)
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert tokens.check(secret) is None

    token, secret = tokens.issue(ada, "deploy", 1)
    ada.is_active = False
    ada.save()
    assert tokens.check(secret) is None

    ada.is_active = True
    ada.save()
    assert tokens.check(secret) is not None
    tokens.revoke(token, actor=ada)
    assert tokens.check(secret) is None


@pytest.mark.parametrize(
    ("name", "days"), [("deploy", 0), ("deploy", 91), ("", 30), ("  ", 30), ("x" * 101, 30)]
)
def test_a_token_without_an_end_or_a_name_is_refused(ada, name, days):
    with pytest.raises(tokens.TokenError):
        tokens.issue(ada, name, days)
    assert not ApiToken.objects.exists()


def test_the_last_use_is_noted_but_not_at_every_request(ada):
    _, secret = tokens.issue(ada, "deploy", 30)
    tokens.check(secret)
    first = ApiToken.objects.get().last_used_at

    tokens.check(secret)

    assert first is not None
    assert ApiToken.objects.get().last_used_at == first


def test_issuing_and_revoking_are_recorded_without_the_secret(ada, dot):
    token, secret = tokens.issue(ada, "deploy", 30, actor=dot)
    tokens.revoke(token, actor=dot)

    told = [trail.sentence(event) for event in trail.trail(f"token:{token.prefix}")]
    assert told[0].startswith("dot issued the API token deploy for ada, valid until ")
    assert told[1] == "dot revoked the API token deploy of ada."
    assert secret not in str(list(Event.objects.values()))

"""Does a new first key come to protect every stored login, whatever happens meanwhile?"""

from __future__ import annotations

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from aclweb.audit import trail
from aclweb.audit.models import Event
from aclweb.inventory.admin import encryption
from aclweb.inventory.models import Cluster

pytestmark = pytest.mark.django_db
OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))
LOGIN = {"sasl.username": "aclweb", "sasl.password": "s3cret"}


@pytest.fixture
def saved(settings) -> Cluster:
    """A cluster whose login was saved with the old key, while the new one is the first by now."""
    settings.ACLWEB_ENCRYPTION_KEYS = [OLD]
    cluster = Cluster.objects.create(slug="eu", name="Europe", kind="admin", address="b:1", options=LOGIN)
    settings.ACLWEB_ENCRYPTION_KEYS = [NEW, OLD]
    return cluster


def login_of(cluster: Cluster) -> object:
    return Cluster.objects.values_list("options", flat=True).get(pk=cluster.pk)


def test_a_login_can_be_read_with_the_new_key_alone_afterwards(saved, settings, capsys):
    call_command("rotate_keys", "--dry-run")
    settings.ACLWEB_ENCRYPTION_KEYS = [OLD]
    assert login_of(saved) == LOGIN

    settings.ACLWEB_ENCRYPTION_KEYS = [NEW, OLD]
    call_command("rotate_keys")
    call_command("rotate_keys")

    settings.ACLWEB_ENCRYPTION_KEYS = [NEW]
    assert login_of(saved) == LOGIN
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "1 secret would be encrypted anew, 0 with the first key already."
    assert told[1] == "1 secret encrypted anew, 0 with the first key already."
    assert told[3] == "0 secrets encrypted anew, 1 with the first key already."
    (event,) = Event.objects.filter(verb="keys.rotated")
    assert trail.sentence(event).endswith(
        "encrypted 1 stored secret anew, with the first of the encryption keys."
    )


def test_a_login_that_no_key_reads_is_named_and_the_others_are_done(saved, settings):
    settings.ACLWEB_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    Cluster.objects.create(slug="us", name="America", kind="admin", address="b:1", options=LOGIN)
    settings.ACLWEB_ENCRYPTION_KEYS = [NEW, OLD]

    with pytest.raises(CommandError, match="reads cluster America: add the key") as error:
        call_command("rotate_keys")

    assert "s3cret" not in str(error.value)
    settings.ACLWEB_ENCRYPTION_KEYS = [NEW]
    assert login_of(saved) == LOGIN


def test_a_login_that_is_saved_meanwhile_is_not_undone(saved, monkeypatch):
    def saved_meanwhile(stored: str) -> str | None:
        Cluster.objects.filter(pk=saved.pk).update(options={"sasl.username": "new"})
        return as_before(stored)

    as_before = encryption.under_first_key
    monkeypatch.setattr(encryption, "under_first_key", saved_meanwhile)

    assert encryption.rotate(actor="ops") == encryption.Rotated(rewritten=0, current=1, lost=())
    assert login_of(saved) == {"sasl.username": "new"}

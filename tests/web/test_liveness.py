"""Readiness is told by finished work, costs little however often it is asked, and reaches the pages."""

import json
import threading
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from aclweb.changes.models import Change
from aclweb.inventory import tasks
from aclweb.inventory.models import Pulse, Revision
from aclweb.inventory.stored_findings import LintRun
from aclweb.inventory.work import pulses
from aclweb.operations import doctor
from aclweb.runtime import storage
from aclweb.web.shell import liveness

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_found_before():
    liveness.forget()
    yield
    liveness.forget()


@pytest.fixture
def probe():
    def ask(path="/readyz"):
        liveness.forget()
        answer = Client().get(path)
        return answer.status_code, json.loads(answer.content)

    return ask


def beating(**ages):
    """Let each name have given its last sign of life so many seconds ago; None for never."""
    for name in (*pulses.QUEUES, pulses.BEAT):
        age = ages.get(name, 0)
        if age is not None:
            at = timezone.now() - timedelta(seconds=age)
            Pulse.objects.update_or_create(pk=name, defaults={"at": at})


def test_an_installation_whose_parts_all_live_is_ready(probe):
    beating()

    status, told = probe()

    assert (status, told["ready"], told["database"], told["queue"]) == (200, True, "ok", "ok")
    assert (told["worker"], told["beat"]) == ("ok", "ok")
    assert set(told["workers"]) == set(pulses.QUEUES)


@pytest.mark.parametrize("silent", [pulses.CHANGES, pulses.SYNCS, pulses.BEAT])
@pytest.mark.parametrize("age", [30, None])
def test_a_silent_worker_or_beat_makes_it_unready_though_a_site_can_serve(probe, silent, age):
    beating(**{silent: age})

    status, told = probe()
    site_status, site = probe("/readyz/site")

    assert (status, told["ready"]) == (503, False)
    state = told["beat"] if silent == pulses.BEAT else told["workers"][silent]["state"]
    assert state.startswith("silent")
    assert (site_status, site["ready"]) == (200, True)


def test_a_search_that_takes_an_hour_is_no_reason_to_be_unready(probe):
    beating(searches=3600)

    assert probe()[0] == 200


def test_a_heartbeat_counts_when_a_worker_has_finished_it(probe):
    beating(changes=None)
    assert probe()[0] == 503

    tasks.pulse(pulses.CHANGES)

    assert probe()[0] == 200


def test_a_database_that_takes_nothing_makes_it_unready_in_words(probe, monkeypatch):
    beating()
    monkeypatch.setattr(storage, "database_problem", lambda: storage.FULL)

    for path in ("/readyz", "/readyz/site"):
        status, answer = probe(path)
        assert (status, answer["database"]) == (503, storage.FULL)


def test_probes_ask_the_database_and_the_queue_once_however_many_they_are(monkeypatch):
    looks = []
    look = liveness._look
    monkeypatch.setattr(liveness, "_look", lambda: (looks.append(1), look())[1])
    beating()

    for _ in range(20):
        Client().get("/readyz")

    assert len(looks) == 1


def test_a_look_that_hangs_holds_up_nobody_else_and_counts_as_no(monkeypatch):
    hanging, may_go_on = threading.Event(), threading.Event()

    def hang():
        hanging.set()
        assert may_go_on.wait(60)
        return liveness.State()

    monkeypatch.setattr(liveness, "_look", hang)
    stuck = threading.Thread(target=liveness.state)
    stuck.start()
    try:
        assert hanging.wait(60)
        assert Client().get("/readyz/site").status_code == 503
    finally:
        may_go_on.set()
        stuck.join()


# --- Pages ---


def bar(client):
    liveness.state()
    return client.get("/clusters/").content.decode()


def test_pages_say_since_when_no_worker_has_finished_a_task(cho, signed_in):
    beating(changes=100)

    assert "No worker for changes has finished a task since " in bar(signed_in(cho))


def test_pages_say_that_approved_changes_wait(cho, ada, cluster, signed_in):
    Change.objects.create(cluster=cluster, author=ada, title="t", state=Change.State.QUEUED)

    assert "No worker for changes has finished a task yet. Approved changes wait." in bar(signed_in(cho))


@pytest.mark.parametrize(
    ("silent", "told"),
    [
        (pulses.SYNCS, "No worker has synced a cluster since "),
        (pulses.BEAT, "The beat has been silent since "),
    ],
)
def test_pages_say_what_else_is_silent(cho, signed_in, silent, told):
    beating(**{silent: 100})

    assert told in bar(signed_in(cho))


@pytest.fixture
def waiting(cluster):
    """Return a function that stores a search asked for so many seconds ago."""

    def ask(age, **fields):
        at = timezone.now() - timedelta(seconds=age)
        revision = Revision.objects.create(
            cluster=cluster, number=1, read_at=at, digest="0" * 64, acls=0, acls_added=0, acls_removed=0
        )
        return LintRun.objects.create(
            cluster=cluster, revision=revision, key="k", asked_at=at, rung_at=at, **fields
        )

    return ask


def test_pages_say_that_no_worker_for_findings_is_at_work(cho, signed_in):
    beating(searches=100)

    told = bar(signed_in(cho))

    assert "No worker for findings has finished a task since " in told
    assert "Findings may be old." in told


def test_pages_say_that_findings_wait_for_a_worker_that_never_came(cho, signed_in, waiting):
    beating(searches=None)
    waiting(100)

    assert "No worker for findings has finished a task yet. Findings wait." in bar(signed_in(cho))


def test_a_worker_that_is_at_a_long_search_or_just_ended_one_is_not_silent(cho, signed_in, waiting):
    beating(searches=1000)
    search = waiting(900, lease_owner="w", lease_until=timezone.now() + timedelta(seconds=100))
    assert "No worker for findings" not in bar(signed_in(cho))

    LintRun.objects.filter(pk=search.pk).update(
        lease_until=None, lease_owner="", done_at=timezone.now() - timedelta(seconds=5)
    )
    liveness.forget()

    assert "No worker for findings" not in bar(signed_in(cho))


def test_a_search_asked_for_just_now_calls_no_new_worker_silent(cho, signed_in, waiting):
    beating(searches=None)
    waiting(5)

    assert "No worker" not in bar(signed_in(cho))


def test_pages_of_a_living_or_new_installation_tell_nothing(cho, signed_in):
    browser = signed_in(cho)
    assert "No worker" not in bar(browser)
    liveness.forget()
    beating()

    page = bar(browser)

    assert "No worker" not in page
    assert "is silent" not in page


def test_workers_that_nobody_could_ask_about_are_not_called_silent(probe, monkeypatch):
    beating()
    monkeypatch.setattr(storage, "database_problem", lambda: storage.FULL)

    status, told = probe()

    assert status == 503
    assert {told["worker"], told["beat"], *(one["state"] for one in told["workers"].values())} == {
        "not known"
    }


def test_who_asks_while_a_new_process_looks_for_the_first_time_hears_so(monkeypatch):
    liveness.forget()
    monkeypatch.setattr(liveness._last, "is_watched", True)
    with liveness._last.looking:  # as the thread of that process does
        answer = Client().get("/readyz")

    told = json.loads(answer.content)
    assert answer.status_code == 503
    assert (told["database"], told["queue"], told["worker"]) == (
        "not asked yet",
        "not asked yet",
        "not known",
    )


def test_the_doctor_does_not_say_that_each_queue_lives_while_searches_are_silent():
    beating(searches=3600)

    told = next(check for check in doctor.examine() if check.name == "workers")

    assert told.ok is True
    assert "The worker for searches is silent since" in told.sentence
    assert "Each queue" not in told.sentence

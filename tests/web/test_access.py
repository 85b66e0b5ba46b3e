"""Every address, for every kind of person: one table, and no address may be missing from it.

anonymous has not signed in; eve has no role on the cluster; cho looks, ada requests, ben
approves, dot administers the cluster, root the site. What one may not see does not exist (404); what one may see and
not do is refused (403). Every unsafe address refuses a form without a CSRF token, and every
answer carries the strict content security policy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.db import transaction
from django.db.models.functions import Now
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from aclweb.accounts import people, tokens
from aclweb.accounts.models import ApiToken, Grant, User
from aclweb.acl.model.delta import Delta
from aclweb.audit.models import Event
from aclweb.changes import asking, computing, review
from aclweb.changes.models import Computation, PolicyGate
from aclweb.changes.question import what_if
from aclweb.insights.models import Analysis
from aclweb.inventory.current import in_force
from aclweb.inventory.models import Cluster, LogSource, OwnedNames
from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster
from tests.sessions import sign_in

PEOPLE = ("anonymous", "eve", "cho", "ada", "ben", "dot", "root")
RULE = allow("User:cat", "READ", "stock")
LINE = json.dumps({"op": "add", **RULE.as_dict()})
QUESTION = {
    "principal": "User:bob",
    "host": "10.0.0.7",
    "operation": "READ",
    "resource_type": "TOPIC",
    "resource_name": "t",
}


@dataclass(frozen=True)
class Row:
    """One address: how to ask, and the status for each of PEOPLE in that order.

    root: the status for the administrator of the site, where it is not that for the one of the cluster.
    """

    path: str
    expected: tuple[int, int, int, int, int, int]
    method: str = "get"
    body: Mapping[str, object] = field(default_factory=dict)
    as_json: bool = False
    root: int = 0

    @property
    def statuses(self) -> dict[str, int]:
        return dict(zip(PEOPLE, (*self.expected, self.root or self.expected[-1]), strict=True))


# 302 for anonymous is the way to the sign-in page.
SEEN = (302, 404, 200, 200, 200, 200)
OWN = (302, 200, 200, 200, 200, 200)
OF_ROOT = (302, 403, 403, 403, 403, 403)
API_SEEN = (401, 404, 200, 200, 200, 200)
API_OWN = (401, 200, 200, 200, 200, 200)
C = "/c/test-eu/"
A = "/api/v1/clusters/test-eu/"

TABLE: dict[str, Row] = {
    "home": Row("/", OWN),
    "sign-in": Row("/sign-in/", (200, 302, 302, 302, 302, 302)),
    "sign-out": Row("/sign-out/", (302, 302, 302, 302, 302, 302), "post"),
    "words": Row("/words/", OWN),
    "password": Row("/password/", OWN),
    "clusters": Row("/clusters/", OWN),
    # Only who administers the whole site adds clusters.
    "add-cluster": Row("/clusters/new/", (302, 403, 403, 403, 403, 403), root=200),
    "add-file-cluster": Row("/clusters/new/file/", OF_ROOT, root=200),
    "removed-clusters": Row("/clusters/removed/", OF_ROOT, root=200),
    "removed-cluster": Row("/clusters/removed/{gone}/", OF_ROOT, root=200),
    "remove-cluster": Row(f"{C}remove/", (302, 404, 403, 403, 403, 403), root=200),
    # It is no cluster of a file, whose page leads on.
    "replace-file": Row(f"{C}file/", (302, 404, 403, 403, 403, 302), "post"),
    "connection": Row(f"{C}connection/", (302, 404, 403, 403, 403, 200)),
    "connection-test": Row(f"{C}connection/test/", (302, 404, 403, 403, 403, 302), "post"),
    "move": Row(f"{C}move/", (302, 404, 403, 403, 403, 200)),
    # Nothing is compared that could be switched to, which the page says.
    "move-switch": Row(f"{C}move/switch/", (302, 404, 403, 403, 403, 302), "post"),
    "pause": Row(f"{C}pause/", (302, 404, 403, 403, 403, 302), "post"),
    "resume": Row(f"{C}resume/", (302, 404, 403, 403, 403, 302), "post"),
    "switch-changes": Row(f"{C}switch-changes/", (302, 404, 403, 403, 403, 302), "post"),
    "cluster": Row(C, SEEN),
    "read-now": Row(f"{C}read/", (302, 404, 302, 302, 302, 302), "post"),
    # No reading is held, so an administrator has nothing to accept.
    "accept-reading": Row(f"{C}accept/", (302, 404, 403, 403, 403, 422), "post"),
    "declare": Row(f"{C}declare/", (302, 404, 403, 403, 403, 302), "post"),
    "acls-over-time": Row(f"{C}acls-over-time/?format=json", SEEN),
    "log-sources": Row(f"{C}log-sources/", SEEN),
    "log-source": Row(f"{C}log-sources/{{source}}/", (302, 404, 403, 403, 403, 200)),
    "log-source-remove": Row(f"{C}log-sources/{{source}}/remove/", (302, 404, 403, 403, 403, 302), "post"),
    "policy": Row(f"{C}policy/", SEEN),
    "policy-remove": Row(f"{C}policy/{{gate}}/remove/", (302, 404, 403, 403, 403, 302), "post"),
    "details": Row(f"{C}details/scram-users/", SEEN),
    "read-members": Row(f"{C}members/?name=g", (302, 404, 302, 302, 302, 302), "post"),
    "owners": Row(f"{C}owners/", SEEN),
    "owners-export": Row(f"{C}owners/export/", SEEN),
    # An empty text has no header, which is said on the page.
    "owners-load": Row(f"{C}owners/load/", (302, 404, 403, 403, 403, 422), "post"),
    "owner": Row(f"{C}owners/{{owned}}/", (302, 404, 403, 403, 403, 200)),
    "owner-remove": Row(f"{C}owners/{{owned}}/remove/", (302, 404, 403, 403, 403, 302), "post"),
    "principal-names": Row(f"{C}principal-names/", SEEN),
    "principal-names-export": Row(f"{C}principal-names/export/", SEEN),
    "principal-names-load": Row(f"{C}principal-names/load/", (302, 404, 403, 403, 403, 422), "post"),
    "search": Row(f"{C}search/?q=t", SEEN),
    "choose": Row(f"{C}choose/?field=principal&back=home", SEEN),
    "completions": Row(f"{C}completions/principal/?q=bob", SEEN),
    "explain": Row(
        f"{C}explain/?principal=User:bob&operation=READ&type=TOPIC&name=orders.eu&host=10.0.0.7", SEEN
    ),
    # Nothing was pasted, which is told on the page.
    "asked-forget": Row(f"{C}asked/forget/", (302, 404, 302, 302, 302, 302), "post"),
    "explain-line": Row(f"{C}explain/line/", (302, 404, 422, 422, 422, 422), "post"),
    "client-action": Row(f"{C}explain/client/?principal=User:bob&action=produce&topic=orders.eu&host=", SEEN),
    "topics": Row(f"{C}topics/", SEEN),
    "topic": Row(f"{C}topics/orders.eu", SEEN),
    "resource": Row(f"{C}resource/?type=GROUP&name=g", SEEN),
    "access-graph": Row(f"{C}graph/?type=TOPIC&name=orders.eu", SEEN),
    "cell": Row(
        f"{C}cell/?principal=User:bob&operation=READ&type=TOPIC&name=orders.eu&host=10.0.0.7",
        (302, 404, 302, 302, 302, 302),
    ),
    "mapping": Row(f"{C}mapping/?kind=ssl&names=CN=bob", SEEN),
    "principals": Row(f"{C}principals/", SEEN),
    "principal-menu": Row(f"{C}principals/one/?name=User:bob", SEEN),
    "principal": Row(f"{C}principal/?name=User:bob", SEEN),
    "principal-beside": Row(f"{C}principal/beside/?name=User:bob", (302, 404, 302, 302, 302, 302)),
    "principal-compare": Row(f"{C}principal/compare/?name=User:bob&with=User:eve", SEEN),
    "principal-clone": Row(f"{C}principal/clone/?name=User:bob", (302, 404, 403, 200, 200, 200)),
    "principal-offboard": Row(
        f"{C}principal/offboard/?name=User:bob", (302, 404, 403, 302, 302, 302), "post"
    ),
    "least-privilege": Row(f"{C}principal/least-privilege/?name=User:bob", SEEN),
    "acls": Row(f"{C}acls/", SEEN),
    # No ACL has this key.
    "acl": Row(f"{C}acls/one/?key=x", (302, 404, 404, 404, 404, 404)),
    # Nothing is chosen, so who may request is led back to the list.
    "acls-chosen-removed": Row(f"{C}acls/chosen/removed/", (302, 404, 403, 200, 200, 200), "post"),
    "acls-chosen": Row(f"{C}acls/chosen/", (302, 404, 403, 302, 302, 302), "post"),
    "acl-views": Row(f"{C}acls/views/", SEEN),
    "acl-view": Row(f"{C}acls/views/999/", (302, 404, 404, 404, 404, 404)),
    "acl-view-rename": Row(f"{C}acls/views/999/rename/", (302, 404, 404, 404, 404, 404), "post"),
    "acl-view-remove": Row(f"{C}acls/views/999/remove/", (302, 404, 404, 404, 404, 404), "post"),
    "acls-export": Row(f"{C}acls/export/?format=csv", SEEN),
    "what-if": Row(f"{C}what-if/", SEEN),
    "what-if-matches": Row(f"{C}what-if/matches/?pattern=ALL", SEEN),
    "what-if-commands": Row(f"{C}what-if/commands/", SEEN),
    "what-if-change": Row(
        f"{C}what-if/change/",
        (302, 404, 403, 302, 302, 302),
        "post",
        {"line": LINE, "title": "Cat reads stock"},
    ),
    "what-if-save": Row(
        f"{C}what-if/save/", (302, 404, 302, 302, 302, 302), "post", {"line": LINE, "name": "for cat"}
    ),
    "drafts": Row(f"{C}drafts/", SEEN),
    # Nobody has this draft.
    "draft-rename": Row(f"{C}drafts/none/rename/", (302, 404, 404, 404, 404, 404), "post"),
    "draft-remove": Row(f"{C}drafts/none/remove/", (302, 404, 404, 404, 404, 404), "post"),
    "what-if-compute": Row(f"{C}what-if/compute/", (302, 404, 302, 302, 302, 302), "post", {"line": LINE}),
    "computation": Row(f"{C}computations/{{computation}}/", SEEN),
    # Whoever has asked may cancel it, and administrators; others are told on the page to which they are led.
    "computation-cancel": Row(
        f"{C}computations/{{computation}}/cancel/", (302, 404, 302, 302, 302, 302), "post"
    ),
    "computation-again": Row(
        f"{C}computations/{{computation}}/again/", (302, 404, 302, 302, 302, 302), "post"
    ),
    "computation-change": Row(
        f"{C}computations/{{computation}}/change/",
        (302, 404, 403, 302, 302, 302),
        "post",
        {"title": "Cat reads stock"},
    ),
    "compare": Row(f"{C}compare/?other=test-eu", SEEN),
    "compare-compute": Row(f"{C}compare/compute/?other=test-eu", (302, 404, 302, 302, 302, 302), "post"),
    "compare-draft": Row(
        f"{C}compare/draft/?other=test-eu", (302, 404, 302, 302, 302, 302), "post", {"side": "left"}
    ),
    "compare-drafts": Row(f"{C}compare/drafts/?first=a&second=b", SEEN),
    "findings": Row(f"{C}findings/", SEEN),
    # Without a lint rule there is nothing to draft: who may request is led back to the list.
    "findings-draft": Row(f"{C}findings/draft/", (302, 404, 403, 302, 302, 302), "post"),
    # No finding has this number: who may request is led back to the list.
    "finding-dismiss": Row(f"{C}findings/999/dismiss/", (302, 404, 403, 302, 302, 302)),
    "finding-undo": Row(f"{C}findings/dismissed/999/undo/", (302, 404, 403, 404, 404, 404), "post"),
    "findings-again": Row(f"{C}findings/again/", (302, 404, 302, 302, 302, 302), "post"),
    "insights": Row(f"{C}insights/", SEEN),
    # No log has been read, so there is no denial to say something of.
    "denials-mark": Row(f"{C}insights/denials/mark/?open=x", (302, 404, 403, 404, 404, 404), "post"),
    "denials-acls": Row(f"{C}insights/denials/acls/", SEEN),
    "denials-export": Row(f"{C}insights/denials/export/", SEEN),
    "use-map": Row(f"{C}insights/use/", SEEN),
    "by-owner": Row(f"{C}insights/use/owners/", SEEN),
    "use-beside": Row(f"{C}insights/use/beside/", SEEN),
    "use-days": Row(f"{C}insights/use/days/?principal=User:bob", SEEN),
    "analyses": Row(f"{C}insights/analyses/", SEEN),
    # No log has been read, which is told on the page to which one is led.
    "analysis-start": Row(
        f"{C}insights/analyses/start/", (302, 404, 302, 302, 302, 302), "post", {"job": "matrix"}
    ),
    "analysis": Row(f"{C}insights/analyses/{{analysis}}/", SEEN),
    "analysis-cancel": Row(
        f"{C}insights/analyses/{{analysis}}/cancel/", (302, 404, 302, 302, 302, 302), "post"
    ),
    "analysis-export": Row(f"{C}insights/analyses/{{result}}/export/", SEEN),
    "week": Row(f"{C}insights/week/", SEEN),
    "coverage": Row(f"{C}insights/coverage/", SEEN),
    # No log names it.
    "broker-hours": Row(f"{C}insights/coverage/broker/?name=b1", (302, 404, 404, 404, 404, 404)),
    "coverage-export": Row(f"{C}insights/coverage/export/", SEEN),
    # Nobody has named a broker, which is said on the page.
    "broker-retire": Row(f"{C}insights/coverage/retire/", (302, 404, 403, 403, 403, 422), "post"),
    # A page asks for a part only, and leads whoever comes by itself to the page that has it.
    "log-reading": Row(f"{C}insights/coverage/reading/", (302, 404, 403, 403, 403, 302), "post"),
    # No worker reads the logs, which is told on the page.
    "log-reading-cancel": Row(
        f"{C}insights/coverage/reading/cancel/", (302, 404, 403, 403, 403, 302), "post"
    ),
    "changes": Row("/changes/", OWN),
    "change": Row("/changes/CR-{change}/", SEEN),
    "change-commands": Row("/changes/CR-{change}/commands/", SEEN),
    "change-diff": Row("/changes/CR-{change}/diff/", SEEN),
    "change-replay": Row("/changes/CR-{change}/replay/", (302, 404, 404, 404, 404, 404)),  # no log is loaded
    "change-print": Row("/changes/CR-{change}/print/", SEEN),
    "change-act": Row(
        "/changes/CR-{change}/act/",
        (302, 404, 422, 422, 302, 302),
        "post",
        {"step": "approve", "plan_hash": "{plan}"},
    ),
    "events": Row("/events/", OWN),
    "people": Row("/people/", OF_ROOT, root=200),
    "account-add": Row("/people/add/", OF_ROOT, root=200),
    "all-tokens": Row("/people/tokens/", OF_ROOT, root=200),
    "account": Row("/people/{account}/", OF_ROOT, root=200),
    "account-act": Row("/people/{account}/act/", OF_ROOT, "post", {"step": "sign-out"}, root=302),
    "account-role": Row(
        "/people/{account}/roles/", OF_ROOT, "post", {"cluster": "test-eu", "role": "1"}, root=302
    ),
    "account-join": Row("/people/{account}/groups/", OF_ROOT, "post", {"group": "platform"}, root=302),
    "account-leave": Row("/people/{account}/groups/{group}/leave/", OF_ROOT, "post", root=302),
    "roles": Row(f"{C}roles/", SEEN),
    "role-take": Row(f"{C}roles/{{grant}}/take/", (302, 404, 403, 403, 403, 302), "post"),
    "tokens": Row("/tokens/", OWN),
    # It is ada's; whoever has no such token is told nothing of it.
    "token-revoke": Row("/tokens/{token}/revoke/", (302, 404, 404, 302, 404, 404), "post", root=302),
    "api:schema": Row("/api/schema/", API_OWN),
    "api:clusters": Row("/api/v1/clusters/", API_OWN),
    "api:cluster": Row(A, API_SEEN),
    # Nobody has asked for a test.
    "api:check": Row(f"{A}check/", (401, 404, 403, 403, 403, 404)),
    # Nobody has asked for a move.
    "api:move": Row(f"{A}move/", (401, 404, 403, 403, 403, 404)),
    "api:move-switch": Row(
        f"{A}move/switch/", (401, 404, 403, 403, 403, 404), "post", {"number": 1}, as_json=True
    ),
    "api:removal": Row(f"{A}removal/", (401, 404, 403, 403, 403, 403), root=200),
    "api:removed-clusters": Row("/api/v1/removed-clusters/", (401, 403, 403, 403, 403, 403), root=200),
    "api:removed-cluster-changes": Row(
        "/api/v1/removed-clusters/{gone}/changes/", (401, 403, 403, 403, 403, 403), root=200
    ),
    "api:acls": Row(f"{A}acls/", API_SEEN),
    "api:affecting": Row(f"{A}affecting/?resource=TOPIC:t", API_SEEN),
    "api:decide": Row(f"{A}decide/", API_SEEN, "post", QUESTION, as_json=True),
    "api:what-if": Row(f"{A}what-if/", API_SEEN, "post", {"add": [RULE.as_dict()]}, as_json=True),
    "api:needs": Row(f"{A}needs/", API_SEEN, "post", {"actions": ["consume"]}, as_json=True),
    "api:findings": Row(f"{A}findings/", API_SEEN),
    # No finding and no dismissal has this number.
    "api:finding-dismiss": Row(
        f"{A}findings/999/dismiss/", (401, 404, 403, 404, 404, 404), "post", {"reason": "Kept."}, as_json=True
    ),
    "api:dismissal": Row(f"{A}dismissals/999/", (401, 404, 403, 404, 404, 404), "delete"),
    "api:log-sources": Row(f"{A}log-sources/", API_SEEN),
    "api:denials": Row(f"{A}denials/", API_SEEN),
    "api:coverage": Row(f"{A}coverage/", API_SEEN),
    "api:use": Row(f"{A}use/", API_SEEN),
    "api:replay": Row(f"{A}replay/", API_SEEN, "post", {"add": [RULE.as_dict()]}, as_json=True),
    "api:broker-settings": Row(f"{A}broker-settings/", API_SEEN),
    "api:detail-lists": Row(f"{A}details/", API_SEEN),
    "api:details": Row(f"{A}details/tokens/", API_SEEN),
    "api:groups": Row(f"{A}groups/", API_SEEN),
    "api:owners": Row(f"{A}owners/", API_SEEN),
    "api:principal-names": Row(f"{A}principal-names/", API_SEEN),
    "api:principals": Row(f"{A}principals/", API_SEEN),
    "api:principals-compare": Row(f"{A}principals/compare/?first=User:bob&second=User:eve", API_SEEN),
    "api:compare": Row(f"{A}compare/?other=test-eu", API_SEEN),
    "api:analyses": Row(f"{A}analyses/", API_SEEN),
    "api:analysis": Row(f"{A}analyses/{{analysis}}/", API_SEEN),
    "api:analysis-rows": Row(f"{A}analyses/{{analysis}}/rows/", API_SEEN),
    "api:computation": Row(f"{A}computations/{{computation}}/", API_SEEN),
    "api:changes": Row("/api/v1/changes/", API_OWN),
    "api:change": Row("/api/v1/changes/CR-{change}/", API_SEEN),
}


def addresses(patterns: list[URLPattern | URLResolver], space: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else space
            yield from addresses(pattern.url_patterns, inner)
        else:
            yield f"{space}{pattern.name}"


@pytest.fixture
def waiting(cluster, ada, monkeypatch):
    monkeypatch.setattr("aclweb.insights.reading.enqueue", lambda *_: None)
    with FakeCluster(bindings=[allow("User:bob", "READ", "orders.eu")], topics=["orders.eu"]) as fake:
        sync(cluster, client=fake)
    cluster.refresh_from_db()
    cluster.log_sources.create(path="/logs")
    cluster.owned_names.create(kind="TOPIC", pattern_type="PREFIXED", name="orders.", owner="payments")
    cluster.policy_gates.create(kind="not-own-rights")
    Cluster.including_removed.create(
        slug="_removed-0", name="gone", kind="admin", removed_at=Now(), removed_by="root", removed_slug="gone"
    )
    tokens.issue(ada, "report", 30)
    people.join(actor="test", person=ada, group="platform")
    change = review.draft(
        cluster=cluster,
        author=ada,
        title="t",
        reason="",
        delta=Delta(add=(allow("User:x", "READ", "y"),), remove=()),
    )
    asking.ask(what_if(in_force(cluster), Delta(add=(RULE,))), person=ada)
    computing.run_next("worker")
    Analysis.objects.create(cluster=cluster, job="load-bearing", asked_by="ada", asked_at=Now())
    Analysis.objects.create(cluster=cluster, job="matrix", asked_by="ada", asked_at=Now(), state="DONE")
    return review.submit(change=change, actor=ada)


@pytest.fixture
def cast(eve, cho, ada, ben, dot, root):
    return {"anonymous": None, "eve": eve, "cho": cho, "ada": ada, "ben": ben, "dot": dot, "root": root}


def test_every_address_of_the_site_is_in_the_table():
    assert set(addresses(get_resolver().url_patterns)) == set(TABLE)


# What waits at the addresses takes longer to make than to ask for a few of them.
SHARES = 10


@pytest.mark.parametrize("share", range(SHARES))
def test_each_address_answers_each_person_as_the_table_says(share, waiting, cast):
    wrong = {}
    browsers = {person: browser_of(cast[person]) for person in PEOPLE}
    for name in list(TABLE)[share::SHARES]:
        row = TABLE[name]
        answered = {}
        for person, browser in browsers.items():
            cache.clear()  # the counters of the address before
            cookies = dict(browser.cookies)
            with transaction.atomic():
                answered[person] = ask(browser, row, waiting)
                transaction.set_rollback(True)
            browser.cookies.clear()
            browser.cookies.update(cookies)

        found = {person: answer.status_code for person, answer in answered.items()}
        if found != row.statuses:
            wrong[name] = found
        if row.expected[0] == 302 and name != "sign-out":
            assert answered["anonymous"]["Location"].startswith("/sign-in/"), name

    assert wrong == {}


def test_a_form_without_its_token_is_refused(waiting, dot):
    forms = [name for name, row in TABLE.items() if row.method == "post"]
    browser = browser_of(dot, enforce_csrf_checks=True)

    answered = {name: ask(browser, TABLE[name], waiting).status_code for name in forms}

    assert answered == dict.fromkeys(forms, 403)


def test_every_page_carries_the_strict_policy(waiting, dot):
    for name in (name for name in TABLE if ":" not in name):
        with transaction.atomic():
            policy = ask(browser_of(dot), TABLE[name], waiting)["Content-Security-Policy"]
            transaction.set_rollback(True)

        assert "default-src 'none'" in policy, name
        assert "unsafe" not in policy, name
        assert "frame-ancestors 'none'" in policy, name


def test_reading_an_address_that_acts_changes_nothing(waiting, root):
    browser = browser_of(root)
    events = Event.objects.count()
    for name in (name for name, row in TABLE.items() if row.method == "post"):
        answer = browser.get(filled(TABLE[name].path, waiting))

        waiting.refresh_from_db()
        assert Event.objects.count() == events, name
        assert waiting.state == waiting.State.IN_REVIEW, name
        # Who signs in again after a form was sent too late comes back by its address, and must find a page.
        if name == "sign-out" or ":" in name:
            assert answer.status_code == 405, name
        else:
            assert browser.get(answer["Location"]).status_code == 200, name


def browser_of(person, **options) -> Client:
    browser = Client(**options)
    if person is not None:
        sign_in(browser, person)
    return browser


def ask(browser, row: Row, change):
    body = {
        key: filled(value, change) if isinstance(value, str) else value for key, value in row.body.items()
    }
    options = {"content_type": "application/json"} if row.as_json else {}
    if row.method in ("get", "delete"):
        return getattr(browser, row.method)(filled(row.path, change))
    return browser.post(filled(row.path, change), json.dumps(body) if row.as_json else body, **options)


def filled(text: str, change) -> str:
    if "{computation}" in text:
        text = text.replace("{computation}", Computation.objects.order_by("pk")[0].address)
    if "{result}" in text:
        text = text.replace("{result}", Analysis.objects.get(state="DONE").address)
    if "{analysis}" in text:
        text = text.replace("{analysis}", Analysis.objects.order_by("pk")[0].address)
    if "{source}" in text:
        # Who tries addresses at random may have removed it.
        found = LogSource.objects.order_by("pk").first()
        text = text.replace("{source}", str(found.pk if found else 1))
    if "{gate}" in text:
        gate = PolicyGate.objects.order_by("pk").first()
        text = text.replace("{gate}", str(gate.pk if gate else 1))
    if "{owned}" in text:
        owned = OwnedNames.objects.order_by("pk").first()
        text = text.replace("{owned}", str(owned.pk if owned else 1))
    if "{account}" in text or "{group}" in text:
        text = text.replace("{account}", str(User.objects.get(username="ada").pk))
        text = text.replace("{group}", str(getattr(Group.objects.first(), "pk", 1)))
    if "{grant}" in text:
        text = text.replace(
            "{grant}", str(getattr(Grant.objects.filter(user__username="ada").first(), "pk", 1))
        )
    if "{token}" in text:
        text = text.replace("{token}", str(getattr(ApiToken.objects.first(), "pk", 1)))
    if "{gone}" in text:
        text = text.replace("{gone}", str(Cluster.including_removed.get(slug="_removed-0").pk))
    return text.replace("{change}", str(change.pk)).replace("{plan}", change.plan_hash)

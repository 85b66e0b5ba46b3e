"""A change is printed whole: every ACL, its impact up to a stated number, who agreed to what, and the hashes."""

from __future__ import annotations

import re
from html import unescape

import pytest

from aclweb.acl.model.delta import Delta
from aclweb.acl.notation import binding_key
from aclweb.changes import review
from aclweb.changes.models import Change
from aclweb.inventory.sync.run import sync
from aclweb.web.changes import sheet
from tests.browsing import axe_violations
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.web.test_replay_card import logged, synced  # noqa: F401 fixtures

LONG = "a-name-without-any-place-to-break-" * 7
MANY = tuple(allow("User:eli", "READ", f"{LONG}{number}") for number in range(130))


def text_of(page) -> str:
    text = page.content.decode()
    article = text[text.index("<article") : text.index("</article>")]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", article)).split())


def submitted(cluster, author, delta: Delta) -> Change:
    change = review.draft(cluster=cluster, author=author, title="Close it", reason="Two\nlines.", delta=delta)
    return review.submit(change=change, actor=author)


def test_all_that_reviewers_saw_is_on_the_sheet(logged, ada, ben, signed_in):  # noqa: F811
    edit = Delta(add=MANY, remove=(allow("User:bob", "READ", "orders"),))
    change = submitted(logged, ada, edit)
    review.comment(change=change, actor=ben, text="Is\nit used?", acl_key="")
    review.comment(change=change, actor=ben, text="This one too?", acl_key=binding_key(MANY[0]))
    review.approve(change=change, reviewer=ben, comment="Agreed.", plan_hash=change.plan_hash)
    change.refresh_from_db()

    text = text_of(signed_in(ben).get(f"/changes/{change.key}/print/"))

    assert all(f"{LONG}{number} " in text for number in range(130))
    assert "All 131 ACLs, in the order of writing" in text
    for said in (
        change.plan_hash,
        change.impact_hash,
        "Two lines.",
        "Is it used?",
        "This one too?",
        "Agreed.",
        "Close it",
    ):
        assert said in text
    assert "loses User:bob Read, Describe on orders" in text
    assert (
        "Before: allowed. Allow User:bob to Read topic orders from any host After: no ACL at all, refused."
        in text
    )
    assert "Allow User:bob to Read topic orders from any host" in text
    assert "last seen 20 Nov 20:00" in text
    assert "ben approved" in text
    assert "Policy gates None were asked." in text


def test_groups_beyond_the_limit_are_counted_and_their_file_is_named(
    logged,  # noqa: F811
    ada,
    signed_in,
    monkeypatch,
):
    monkeypatch.setattr(sheet, "MOST_GROUPS", 2)
    edit = Delta(add=tuple(allow(f"User:u-{n}", "READ", f"t-{n}") for n in range(5)))
    change = submitted(logged, ada, edit)

    text = text_of(signed_in(ada).get(f"/changes/{change.key}/print/"))

    assert "3 of 5 groups are left out here. The file of the access diff has all." in text
    assert text.count("gains User:u-") == 2


def test_the_change_leads_to_its_sheet_and_others_do_not_see_it(logged, ada, eve, signed_in):  # noqa: F811
    change = submitted(logged, ada, Delta(add=(deny("User:zoe", "READ", "orders"),)))

    assert (
        f'href="/changes/{change.key}/print/"'
        in signed_in(ada).get(f"/changes/{change.key}/").content.decode()
    )
    assert signed_in(eve).get(f"/changes/{change.key}/print/").status_code == 404


def test_a_draft_and_a_change_without_a_log_have_a_sheet_too(cluster, ada, signed_in):
    with FakeCluster([], topics=["orders"]) as fake:
        sync(cluster, client=fake)
    cluster.refresh_from_db()
    change = review.draft(
        cluster=cluster,
        author=ada,
        title="t",
        reason="",
        delta=Delta(add=(allow("User:a", "READ", "orders"),)),
    )

    text = text_of(signed_in(ada).get(f"/changes/{change.key}/print/"))

    assert "Submitted not yet" in text
    assert text.count("A draft: nobody has been asked yet.") == 1
    assert "State draft Drafted" in text
    assert "Comments None yet. What happened" in text
    assert "gains User:a Read, Describe on orders" in text
    assert "In the log" not in text


def test_the_sheet_of_a_change_that_was_undone_names_what_undid_it(logged, ada, signed_in):  # noqa: F811
    change = submitted(logged, ada, Delta(add=(deny("User:zoe", "READ", "orders"),)))
    undo = submitted(logged, ada, Delta(add=(allow("User:zoe", "READ", "stock"),)))
    Change.objects.update(state=Change.State.APPLIED, sentence="1 written.")
    Change.objects.filter(pk=undo.pk).update(undo_of=change)

    text = text_of(signed_in(ada).get(f"/changes/{change.key}/print/"))

    assert f"State undone. {undo.key} undid it. Drafted" in text


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_on_a4_nothing_of_the_sheet_is_beyond_the_paper(logged, ada, window):  # noqa: F811
    change = submitted(logged, ada, Delta(add=MANY[:40], remove=(allow("User:bob", "READ", "orders"),)))
    page = window(ada, f"/changes/{change.key}/print/", size=(688, 900))
    assert axe_violations(page) == []
    page.emulate_media(media="print")

    beyond = page.evaluate(
        """() => [...document.querySelectorAll('.sheet *')].filter(each => {
            const box = each.getBoundingClientRect();
            return box.width > 1 && (box.right > window.innerWidth + 1 || each.scrollWidth > each.clientWidth + 1
                && getComputedStyle(each).overflowX !== 'visible');
        }).map(each => each.outerHTML.slice(0, 80))"""
    )

    assert beyond == []
    pdf = page.pdf(prefer_css_page_size=True)
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert len(boxes) > 3
    assert {(round(float(wide)), round(float(high))) for wide, high in boxes} == {(595, 842)}

"""How do two drafts that nobody has saved differ in the access they would give?

Both are texts in the form, read as a what-if reads what is pasted; so nothing that was typed
is lost, and nothing is saved. Topics that do not exist yet count as if both drafts had them.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from aclweb.accounts import access
from aclweb.accounts.models import User
from aclweb.acl.notation import write_delta
from aclweb.changes import asking
from aclweb.changes.comparison import Side, compare
from aclweb.changes.models import ChangeError
from aclweb.changes.question import Question, comparison
from aclweb.inventory.current import ClusterView
from aclweb.inventory.current import view as current
from aclweb.inventory.models import Cluster
from aclweb.web.drafts import diff_files, keeping, replayed
from aclweb.web.drafts.comparing import differences
from aclweb.web.drafts.draft import Draft, read_draft
from aclweb.web.shell.htmx import render_page, wants_part

# The two texts of the form, and what sentences call them.
SIDES = (("first", "the first draft"), ("second", "the second draft"))


@login_required
@require_http_methods(["GET", "POST"])
def detail(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Compare two drafts against the same cluster. Two that were given have an address, as in a what-if."""
    cluster = access.cluster_or_404(request.user, slug)
    assert isinstance(request.user, User)  # login_required
    given = request.POST if request.method == "POST" else request.GET
    data = keeping.opened(given, cluster)
    if data is None:
        messages.error(
            request,
            f"The drafts behind this link are gone; paste them again. A long pair is kept for {keeping.KEPT_FOR}.",
        )
        return redirect("compare-drafts", slug=slug)
    if any(data.getlist("show")[1:]):
        # A tile was pressed, beside the field that keeps the one shown: it leads to its rows.
        data = data.copy()
        data.pop("view", None)
    view = current.in_force(cluster, just_read=True)
    texts = {name: data.get(name, "") for name, _ in SIDES}
    if "line" in data and "first" not in data:  # from a what-if, which holds its draft in lines
        texts["first"] = write_delta(read_draft(data, view).delta)
    drafts = [_read(texts[name], view) for name, _ in SIDES]
    asked_topics = [name for name in data.getlist("new_topic") if name.strip()]
    fresh = read_draft(_form(new_topic=asked_topics), view)
    unread = [words for (_, words), draft in zip(SIDES, drafts, strict=True) if draft.is_unread]
    kept = keeping.place(
        path=request.path,
        content=keeping.Content(
            {**{name: [text] for name, text in texts.items() if text}, "new_topic": asked_topics}
        ),
        cluster=cluster,
        person=request.user,
        opened=given.get(keeping.FIELD, ""),
        **{
            name: data.get(name, "")
            for name in ("show", "principal", "name", "view", "page", "open", "by", "days", "flips")
        },
    )
    is_shown_there = kept.address and not (wants_part(request) or fresh.faults or "compute" in request.POST)
    if request.method == "POST" and is_shown_there:
        return redirect(kept.address)
    context: dict[str, Any] = {
        "cluster": cluster,
        "in_force": view,
        "sides": [
            {"name": name, "words": words, "text": texts[name], "draft": draft}
            for (name, words), draft in zip(SIDES, drafts, strict=True)
        ],
        "asked_topics": asked_topics,
        "fresh": fresh,
        "unread": " and ".join(unread),
    }
    if view.revision is not None and all(text.strip() for text in texts.values()) and not unread:
        first, second = (
            Side(view, draft=(words, draft.delta), new_topics=fresh.new_topics)
            for (_, words), draft in zip(SIDES, drafts, strict=True)
        )
        if request.method == "POST" and "compute" in request.POST:
            return _computed_later(request, cluster, comparison(first, second), kept.address)
        found = compare(first, second)
        context |= differences(data, found)
        if found.too_much:
            context["computation"] = asking.of_question(comparison(first, second))
        context["is_cut"] = any(draft.faults for draft in drafts)
    if (
        file := diff_files.file_asked(
            context.get("every_row"), request.GET, name=f"drafts-{slug}", log_of=cluster
        )
    ) is not None:
        return file
    if (
        file := replayed.file_asked(context, request.GET, name=f"drafts-{slug}", about=[cluster])
    ) is not None:
        return file
    context["replay_files"] = replayed.files(kept.address, data)
    context["diff_files"] = diff_files.files(kept.address, data)
    context |= {"kept": kept, "permalink": kept.address, "query": kept.address.partition("?")[2]}
    page = render_page(
        request,
        "drafts/compare_drafts/detail.html",
        "drafts/compare_drafts/_drafts.html",
        context,
        section="compare",
    )
    if request.method == "POST" and kept.address:
        page["HX-Push-Url"] = kept.address
    return page


def _computed_later(
    request: HttpRequest, cluster: Cluster, question: Question, asked_from: str
) -> HttpResponse:
    """Have a worker compare the drafts, and lead to where its progress is shown."""
    assert isinstance(request.user, User)  # login_required
    try:
        row = asking.ask(question, person=request.user, asked_from=asked_from)
    except ChangeError as error:
        messages.error(request, str(error))
        return redirect(asked_from or request.path)
    return redirect("computation", slug=cluster.slug, address=row.address)


def _read(text: str, view: ClusterView) -> Draft:
    return read_draft(_form(paste=[text]), view)


def _form(**fields: list[str]) -> QueryDict:
    form = QueryDict(mutable=True)
    for name, values in fields.items():
        form.setlist(name, values)
    return form

"""What would this edit, or this new topic, change? And: turn the answer into a change request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied
from django.db.models import OuterRef
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from aclweb.accounts.access import cluster_or_404, may
from aclweb.accounts.models import User
from aclweb.acl.matching import covers_name
from aclweb.acl.model import (
    AclBinding,
    AclError,
    AuthorizerSettings,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from aclweb.acl.notation import is_binding_key
from aclweb.changes import acls_after, asking, policy, replaying, review
from aclweb.changes import preview as previews
from aclweb.changes.models import ChangeError
from aclweb.changes.question import any_computed, what_if
from aclweb.insights.current import current_load
from aclweb.insights.replay import Replay
from aclweb.inventory.current import BINDING_COLUMNS, ClusterView, bindings_of
from aclweb.inventory.current import view as current
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.lists import names_known
from aclweb.inventory.models import Cluster, StoredAcl, stored_in_force
from aclweb.web.drafts import (
    before_adding,
    diff_files,
    diff_page,
    impact_rows,
    keeping,
    named,
    replay_all,
    replayed,
    saved,
    through,
)
from aclweb.web.drafts.draft import MOST_LINES, AclForm, Draft, Fault, Line, hints, kept_draft, read_draft
from aclweb.web.shell import exporting
from aclweb.web.shell.htmx import render_page, wants_part
from aclweb.web.shell.paging import page_asked, page_of
from aclweb.web.shell.typed_principal import holds_pem
from aclweb.web.shell.uploads import uploaded_text

CARDS_A_PAGE = 8
FOLDS_A_PAGE = 7
# What a page of the draft's own lists holds, beside its access diff: one list at a time.
COMMANDS_SHOWN = 30
RESOURCES_SHOWN = 40
# The names shown while somebody types a pattern; the count is always of all.
NAMES_SHOWN = 12
CAUTIONS_SHOWN = 5
# Of a file: some 5,000 ACLs with long names.
MOST_UPLOADED = 1024 * 1024
# A draft of more is no text to edit on a page.
MOST_AS_TEXT = 500
# What of an address says which part of the impact is shown.
_SHOWN = ("as", "cards", "show", "tab", "view", "page", "open", "by", "days", "flips", "after", "acls")
ACLS_AFTER_A_PAGE = 12
# Of those that this person asked for, while there is no draft.
COMPUTATIONS_SHOWN = 5


def _asked_beside(
    request: HttpRequest, context: Mapping[str, Any], cluster: Cluster, draft: Draft
) -> HttpResponseBase | None:
    """Return the file of an answer, or the page about the whole log, that an address asks for beside the draft."""
    preview, name = context.get("preview"), f"what-if-{cluster.slug}"
    rows = impact_rows.exact_rows(preview.impact) if preview else None
    if (file := diff_files.file_asked(rows, request.GET, name=name, log_of=cluster)) is not None:
        return file
    if request.GET.get("replay") == replayed.ALL and context.get("replay") is not None:
        fields = request.GET.copy()
        del fields["replay"]
        back = f"{request.path}?{fields.urlencode()}"
        return replay_all.page(request, cluster, draft.delta, back=back, name="What-if")
    return replayed.file_asked(context, request.GET, name=name, about=[cluster])


@login_required
@require_http_methods(["GET", "POST"])
def detail(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show the draft that the form or link describes, and the difference in access it would make.

    Every draft has an address of its own, to which a form that was sent without htmx is led:
    so it survives Back, a new sign-in, and being sent to somebody.
    """
    computed = any_computed(OuterRef("pk"))
    cluster = cluster_or_404(request.user, slug, with_options=True, any_computed=computed)
    assert isinstance(request.user, User)  # login_required
    data, fault = _sent(request)
    view = current.in_force(cluster, just_read=True)
    living = _named(data, cluster, request.user)
    draft, opened = _read(data, cluster, view, living)
    if fault:
        draft = replace(draft, faults=(*draft.faults, Fault(fault, field="paste")))
    if "proposal" in data and draft.is_empty:
        gone = Fault(
            "This proposal is gone: the cluster was synced since. The findings list the current proposals."
        )
        draft = replace(draft, faults=(*draft.faults, gone))
    form = AclForm(data, settings=view.settings)
    notes: list[str] = []
    if "add_rule" not in data or not form.is_typed:
        form = AclForm(initial=_prefill(data), settings=view.settings)
    elif form.is_valid():
        lines = [Line("add", binding) for binding in form.bindings() if binding not in view.index]
        draft, fault = _joined(draft, lines)
        if not lines:
            form.add_error(None, _there_already(form.bindings(), view))
        elif fault:
            form.add_error(None, fault)
        else:
            there = _there_already(form.bindings(), view)
            notes = [*form.notes, there] if there else form.notes
            form = AclForm(settings=view.settings)
            data = data.copy()
            data["cards"] = str(-(-len(draft.written) // CARDS_A_PAGE))
    if living is not None and request.method == "POST":
        try:
            living = named.store(living, draft.content.fields)
        except named.NamedDraftError as error:
            living = replace(living, is_unkept=True)
            draft = replace(draft, faults=(*draft.faults, Fault(str(error))))
    kept = _place(cluster, request.user, draft, data, living, opened)
    # What an address cannot say, a form that is wrong or a text that waits, is shown at once.
    waits = "drop" in data and bool(data.get("paste", "").strip())
    overtaken = living is not None and living.is_overtaken
    is_said = not (draft.faults or form.errors or notes or waits or overtaken)
    if request.method == "POST" and kept.address and is_said and not wants_part(request):
        return redirect(kept.address)
    context = {
        **_workbench(cluster, view, draft, kept, living, data),
        "pasted": _pasted(data, draft),
        "wrong_topics": [
            name
            for name in data.getlist("new_topic")
            if name.strip() and name not in draft.written_topics and not holds_pem(name)
        ],
        "form": form,
        "notes": notes,
        **_written_as(data, draft),
        "may_request": may(request.user, "request", cluster),
        # A name to begin from: it stands in the field and is not part of the draft yet.
        "like": data.get("like", "")[:249] if request.method == "GET" else "",
        "title": data.get("title", ""),
        "reason": data.get("reason", ""),
        "ticket": data.get("ticket", ""),
        "computations": asking.newest_of(request.user, cluster, COMPUTATIONS_SHOWN) if draft.is_empty else (),
        **_answer(cluster, view, draft, data),
        "replay_files": replayed.files(kept.address, data),
        "replay_all_url": replayed.all_url(kept.address),
        "diff_files": diff_files.files(kept.address, data),
    }
    if (other := _asked_beside(request, context, cluster, draft)) is not None:
        return other
    page = render_page(
        request, "drafts/whatif/detail.html", "drafts/whatif/_workbench.html", context, section="changes"
    )
    if request.method == "POST" and kept.address:
        page["HX-Push-Url"] = kept.address
    return page


@login_required
@require_http_methods(["GET", "POST"])
def request_change(request: HttpRequest, slug: str) -> HttpResponse:
    """Save the draft as a change and hand it in for review."""
    cluster = cluster_or_404(request.user, slug)
    if not may(request.user, "request", cluster):
        raise PermissionDenied(f"You may look at {cluster.name} and not request changes there.")
    if request.method == "GET":
        # After a new sign-in: the form's address names the draft, so it is there again.
        return redirect(f"{reverse('what-if', args=[slug])}?{request.GET.urlencode()}")
    assert isinstance(request.user, User)  # login_required
    view = current.in_force(cluster, just_read=True)
    living = _named(request.POST, cluster, request.user)
    draft, opened = _read(request.POST, cluster, view, living)
    try:
        change = review.request(
            cluster=cluster,
            author=request.user,
            title=request.POST.get("title", "").strip(),
            reason=request.POST.get("reason", "").strip(),
            ticket=request.POST.get("ticket", ""),
            delta=draft.delta,
        )
    except (ChangeError, AclError) as error:
        return _refused(request, cluster, view, draft, living, opened, request_error=str(error))
    return redirect("change", number=change.pk)


@login_required
@require_http_methods(["GET", "POST"])
def save(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the draft under a name, at an address of its own."""
    cluster = cluster_or_404(request.user, slug)
    if request.method == "GET":
        # After a new sign-in: the form's address names the draft, so it is there again.
        return redirect(f"{reverse('what-if', args=[slug])}?{request.GET.urlencode()}")
    assert isinstance(request.user, User)  # login_required
    view = current.in_force(cluster, just_read=True)
    living = _named(request.POST, cluster, request.user)
    draft, opened = _read(request.POST, cluster, view, living)
    name = request.POST.get("name", "")
    try:
        kept = named.save_as(name, draft.content.fields, cluster=cluster, person=request.user)
    except named.NamedDraftError as error:
        return _refused(request, cluster, view, draft, living, opened, save_error=str(error), draft_name=name)
    messages.success(request, f"Saved as {kept.name}: what you edit from here on is kept in it.")
    return redirect(saved.address(kept, slug))


def _refused(
    request: HttpRequest,
    cluster: Cluster,
    view: ClusterView,
    draft: Draft,
    living: named.Standing | None,
    opened: str,
    **said: str,
) -> HttpResponse:
    """Return the page with the draft as it was sent and what was wrong with it."""
    assert isinstance(request.user, User)  # login_required
    kept = _place(cluster, request.user, draft, request.POST, living, opened)
    context = {
        **_workbench(cluster, view, draft, kept, living, request.POST),
        "form": AclForm(settings=view.settings),
        "pasted": _pasted(request.POST, draft),
        "may_request": may(request.user, "request", cluster),
        "title": request.POST.get("title", ""),
        "reason": request.POST.get("reason", ""),
        "ticket": request.POST.get("ticket", ""),
        **_answer(cluster, view, draft, request.POST),
        "replay_files": replayed.files(kept.address, request.POST),
        "replay_all_url": replayed.all_url(kept.address),
        "diff_files": diff_files.files(kept.address, request.POST),
        **said,
    }
    return render_page(request, "drafts/whatif/detail.html", None, context, section="changes", status=422)


@login_required
@require_http_methods(["GET", "POST"])
def compute(request: HttpRequest, slug: str) -> HttpResponse:
    """Have a worker compute the impact of a draft that is too much for a page."""
    cluster = cluster_or_404(request.user, slug)
    if request.method == "GET":
        # After a new sign-in: the form's address names the draft, so it is there again.
        return redirect(f"{reverse('what-if', args=[slug])}?{request.GET.urlencode()}")
    assert isinstance(request.user, User)  # login_required
    view = current.in_force(cluster, just_read=True)
    living = _named(request.POST, cluster, request.user)
    draft, opened = _read(request.POST, cluster, view, living)
    kept = _place(cluster, request.user, draft, request.POST, living, opened)
    try:
        previews.check(draft.delta)
        question = what_if(view, draft.delta, draft.new_topics)
        row = asking.ask(question, person=request.user, asked_from=kept.address)
    except (ChangeError, AclError) as error:
        messages.error(request, str(error))
        return redirect(kept.address or reverse("what-if", args=[slug]))
    return redirect("computation", slug=slug, address=row.address)


@login_required
@require_GET
def commands(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Give the whole draft behind an address as kafka-acls commands, however many the page shows."""
    cluster = cluster_or_404(request.user, slug)
    view = current.in_force(cluster, just_read=True)
    draft = _draft_at(request, view)
    return exporting.commands_file(draft.delta, view.settings, f"draft-{cluster.slug}")


@login_required
@require_http_methods(["GET", "POST"])
def matches(request: HttpRequest, slug: str) -> HttpResponse:
    """Say which names a pattern matches now, and what the ACL would change, while somebody types it.

    The address is that of the draft that it would join. What is typed is posted: it may be hundreds of principals.
    """
    cluster = cluster_or_404(request.user, slug)
    view = current.in_force(cluster, just_read=True)
    typed = request.POST if request.method == "POST" else request.GET
    name = typed.get("resource_name", "")
    kind = typed.get("pattern", "")
    resource_type = typed.get("resource_type", "TOPIC")
    if resource_type not in ResourceType.__members__:
        resource_type = "TOPIC"
    names: tuple[str, ...] | None = None
    if resource_type == "TOPIC":
        names = tuple(topic.name for topic in view.topics)
    elif resource_type == "GROUP":
        names = view.groups
    found = [] if names is None else _covered(names, resource_type, kind, name, view.settings)
    context = {
        "cluster": cluster,
        "asked": bool(kind) and (bool(name) or kind == "ALL"),
        "known": names is not None,
        "kind": kind,
        "name": name,
        "thing": resource_type.lower().replace("_", " "),
        "found": found[:NAMES_SHOWN],
        "count": len(found),
        **_checks(request, typed, view),
    }
    return render(request, "drafts/whatif/_matches.html", context)


def _checks(request: HttpRequest, data: QueryDict, view: ClusterView) -> dict[str, Any]:
    """Return what there is to say of the ACL as far as it is typed: its faults, or what to know of it."""
    form = AclForm(data, settings=view.settings)
    if form.is_valid():
        bindings = form.bindings()
        cautions = {each.sentence: each for binding in bindings for each in hints(binding, view.settings)}
        return {
            "form": form,
            "cautions": list(cautions.values())[:CAUTIONS_SHOWN],
            "there_already": _there_already(bindings, view),
            "are_new": any(binding not in view.index for binding in bindings),
            "acls": len(bindings),
            "before_adding": before_adding.told(view, _draft_at(request, view), bindings),
        }
    typed = [name for name in form.errors if data.get(name, "") or name == NON_FIELD_ERRORS]
    return {"form": form, "typed_errors": [error for name in typed for error in form.errors[name]]}


def _draft_at(request: HttpRequest, view: ClusterView) -> Draft:
    """Return the draft that an address names."""
    assert isinstance(request.user, User)  # login_required
    living = _named(request.GET, view.cluster, request.user)
    draft, _ = _read(request.GET, view.cluster, view, living)
    return draft


def _joined(draft: Draft, lines: Sequence[Line]) -> tuple[Draft, str]:
    """Return the draft with these lines; without them, and a sentence, where they are too many for it."""
    joined = draft.joined(lines)
    if len(joined.written) > MOST_LINES:
        return draft, (
            f"A draft has at most {MOST_LINES:,} ACLs; "
            f"with these {len(lines):,} it would have {len(joined.written):,}."
        )
    return joined, ""


def _there_already(bindings: Sequence[AclBinding], view: ClusterView) -> str:
    """Return the sentence about ACLs that are in force; empty where none is."""
    there = sum(binding in view.index for binding in bindings)
    if not there:
        return ""
    if len(bindings) == 1:
        return "This ACL is in force already; adding it again changes nothing."
    return f"{there:,} of these {len(bindings):,} ACLs {'is' if there == 1 else 'are'} in force already, and left out."


def _covered(
    names: tuple[str, ...], resource_type: str, kind: str, name: str, settings: AuthorizerSettings
) -> list[str]:
    if kind == "ALL":
        return list(names)
    if kind not in ("LITERAL", "PREFIXED") or not name:
        return []
    pattern = ResourcePattern(ResourceType[resource_type], name, PatternType[kind])
    return [known for known in names if covers_name(pattern, known, settings)]


def _named(data: QueryDict, cluster: Cluster, person: User) -> named.Standing | None:
    """Return the named draft that a form or a link is about; None where it is about none, or that is removed."""
    draft = named.of_key(cluster, str(data[named.FIELD])) if named.FIELD in data else None
    return None if draft is None else named.standing(draft, person, data)


def _sent(request: HttpRequest) -> tuple[QueryDict, str]:
    """Return the form that was sent, a file in it as if it had been pasted, and what is wrong with the file."""
    if request.method != "POST":
        return request.GET, ""
    text, fault = uploaded_text(
        request, "file", most_bytes=MOST_UPLOADED, instead="more by `python -m aclweb.acl whatif`"
    )
    if text is None:
        return request.POST, ""
    data = request.POST.copy()
    data["paste"] = "\n".join(filter(None, [data.get("paste", ""), text]))
    return data, fault


def _read(
    data: QueryDict, cluster: Cluster, view: ClusterView, living: named.Standing | None
) -> tuple[Draft, str]:
    """Return the draft of a form or a link, and the key under which it was read, if any.

    One that is no longer kept is reported, and never an empty draft.
    """
    if living is not None:
        data = named.opened(data, living.draft)
    elif named.FIELD in data:
        rest = data.copy()
        rest.pop(named.FIELD)
        draft, opened = _read(rest, cluster, view, None)
        gone = Fault("The draft behind this link is gone: its owner has removed it.")
        return replace(draft, faults=(gone, *draft.faults)), opened
    whole = keeping.opened(data, cluster)
    opened = data.get(keeping.FIELD, "") if whole is not None else ""
    if whole is None:
        whole = named.as_saved(living, data)
    if whole is None:
        gone = Fault(
            f"The draft behind this link is gone: a long one is kept for {keeping.KEPT_FOR}. "
            "One that is saved under a name stays until its owner removes it."
        )
        rest = data.copy()
        rest.pop(keeping.FIELD)
        draft = read_draft(rest, view)
        return replace(draft, faults=(gone, *draft.faults)), ""
    return kept_draft(_with_proposal(_with_removals(whole, cluster), cluster), view), opened


def _pasted(data: QueryDict, draft: Draft) -> str:
    """Return the text that stays in the box: one that could not be read whole, or that was not read yet."""
    if draft.is_whole and "drop" not in data:
        return ""
    text = str(data.get("paste", draft.paste))
    return "" if holds_pem(text) else text


def _written_as(data: QueryDict, draft: Draft) -> dict[str, Any]:
    """Return whether the page shows the draft as text, and that text.

    A text that cannot be read stays as it was typed, however the draft was asked for.
    """
    is_long = len(draft.written) > MOST_AS_TEXT
    is_text = bool(draft.text) or (data.get("as") == "text" and not is_long)
    return {
        "is_text": is_text,
        "text": (draft.text or draft.as_text) if is_text else "",
        "most_as_text": MOST_AS_TEXT if is_long else None,
    }


def _place(
    cluster: Cluster,
    person: User,
    draft: Draft,
    data: QueryDict,
    living: named.Standing | None,
    opened: str,
) -> keeping.Place:
    """Return where this draft can be found again, with what is shown of its effect; opened: as `_read` returns it."""
    path = reverse("what-if", args=[cluster.slug])
    shown = {name: data.get(name, "") for name in _SHOWN}
    shown |= {"title": data.get("title", "")[:200], "reason": data.get("reason", "")[:500]}
    shown |= {"ticket": data.get("ticket", "")[:200]}
    kept = keeping.place(
        path=path,
        content=draft.content,
        cluster=cluster,
        person=person,
        opened=opened,
        **shown,
    )
    if living is None:
        return kept
    address = kept.address
    if living.shows(draft.content.fields):
        pairs = [(named.FIELD, living.draft.key), *((name, value) for name, value in shown.items() if value)]
        address = keeping.with_query(path, pairs)
    return keeping.Place(address, (*kept.hidden, *living.hidden))


def _workbench(
    cluster: Cluster,
    view: ClusterView,
    draft: Draft,
    kept: keeping.Place,
    living: named.Standing | None,
    data: QueryDict,
) -> dict[str, Any]:
    """Return what the page needs of a draft, whatever becomes of it."""
    return {
        "cluster": cluster,
        "in_force": view,
        "draft": draft,
        "cards": page_of(draft.cautious_lines(view.settings), page_asked(data, "cards"), CARDS_A_PAGE),
        "kept": kept,
        "living": living,
        "living_url": saved.address(living.draft, cluster.slug) if living else "",
        "longest_name": named.LONGEST_NAME,
        "kept_for": keeping.KEPT_FOR,
        # Why nothing is written here even where it is approved; empty where a worker writes it.
        "unwritable": policy.writable(cluster)[1],
        "permalink": kept.address,
        # Behind the addresses of forms: whoever must sign in again comes back to the draft.
        "query": kept.address.partition("?")[2],
    }


def _with_removals(data: QueryDict, cluster: Cluster) -> QueryDict:
    """Return the form with each `remove_key` (a row chosen in the ACL list) put in as its ACL."""
    keys = [key for key in data.getlist("remove_key") if is_binding_key(key)]
    if not keys:
        return data
    whole = data.copy()
    rows = StoredAcl.objects.filter(stored_in_force(cluster.revision_id), cluster=cluster, key__in=keys)
    for binding in bindings_of(rows.values_list(*BINDING_COLUMNS)):
        whole.appendlist("line", Line("remove", binding).as_text())
    return whole


def _with_proposal(data: QueryDict, cluster: Cluster) -> QueryDict:
    """Return the form with the proposal of the findings that a link names put in as its ACLs."""
    number = data.get("proposal", "")
    known = number.isascii() and number.isdecimal() and len(number) < 19
    found = findings.proposal(cluster, int(number)) if known else None
    if found is None:
        return data
    whole = data.copy()
    for op, bindings in (("add", (found.acl,)), ("remove", found.by)):
        for binding in bindings:
            whole.appendlist("line", Line(op, binding).as_text())
    return whole


def _prefill(data: QueryDict) -> dict[str, Any]:
    """Return what a link asks the form to begin with, such as ?resource_name=orders."""
    return {name: data[name] for name in AclForm.base_fields if name in data}


def _answer(cluster: Cluster, view: ClusterView, draft: Draft, data: QueryDict) -> dict[str, Any]:
    """Return the effect of the draft for the page; nothing where the draft is empty."""
    if draft.is_empty:
        return {}
    try:
        preview = previews.preview(cluster, draft.delta, new_topics=draft.new_topics, view=view)
    except previews.TooMuch as error:
        # Where a worker has been asked already, that is linked; where not, it can be asked.
        computation = asking.of_question(what_if(view, draft.delta, draft.new_topics))
        return {"too_much": str(error), "computation": computation}
    kind = data.get("show", "")
    if kind not in impact_rows.KINDS:
        kind = next((name for name in impact_rows.KINDS if preview.impact.counts[name]), "gains")
    load = current_load(cluster)
    of = acls_after.PRINCIPALS if data.get("after") == acls_after.PRINCIPALS else acls_after.RESOURCES
    after = view.loaded.remember(
        ("acls_after", draft.delta, view.settings, of),
        lambda: acls_after.acls_after(view.index, view.settings, draft.delta, of=of),
    )
    replay = replaying.replay_in(load, view, draft.delta, preview.impact, days=replayed.days_asked(data))
    tabs = _tabs(draft, preview, after, replay)
    tab = next((name for name, *_ in tabs if name and name == data.get("tab")), "")
    return {
        "preview": preview,
        "tabs": tabs,
        "tab": tab,
        "is_replay_folded": tab != "replay",
        "commands_shown": COMMANDS_SHOWN,
        "resources_shown": RESOURCES_SHOWN,
        "resources_more": len(preview.impact.resources) - RESOURCES_SHOWN,
        "after": after,
        "acls": page_of(after.rows, page_asked(data, "acls"), ACLS_AFTER_A_PAGE),
        **replayed.shown(replay, cluster, data),
        "unsure_topics": names_known(cluster, ResourceType.TOPIC).sentence if draft.new_topics else "",
        "told": impact_rows.told(preview.impact),
        "tiles": impact_rows.tiles(preview.impact),
        "settled": through.settled_by(preview.impact, [line.binding for line in draft.lines]),
        "unmatchable": through.unmatchable(draft.delta.add, view.settings),
        "show": kind,
        "nothing_differs": not any(preview.impact.counts[name] for name in ("loses", "gains", "depends")),
        **diff_page.shown(
            impact_rows.rows(preview.impact, kind),
            data,
            FOLDS_A_PAGE,
            every=impact_rows.rows(preview.impact, *impact_rows.KINDS),
            log_of=cluster,
            load=load,
            replay=replay,
        ),
    }


def _tabs(
    draft: Draft, preview: previews.Preview, after: acls_after.AclsAfter, replay: Replay | None
) -> list[tuple[str, str, int | None]]:
    """Return what can be looked at of an impact, one at a time: its name in an address, its words, how much it is."""
    found: list[tuple[str, str, int | None]] = [("", "Access diff", None)]
    if replay is not None and replay.flips:
        found.append(("replay", "Replayed requests", len(replay.flips)))
    if draft.lines:
        found.append(("after", "ACLs after", len(after.rows)))
    if preview.commands:
        found.append(("commands", "Commands", len(preview.commands)))
    if preview.impact.resources:
        found.append(("matched", "Matched resources", len(preview.impact.resources)))
    return found

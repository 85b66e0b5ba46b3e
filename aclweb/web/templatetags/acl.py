"""How are ACLs, operations, resources, principals, times and hostile characters shown?

{{ name|kafka }}                    a Kafka text, letter by letter, nothing hidden; |listed on a line of its own
{{ binding.operation|operation }}   Describe configs
{{ binding|brings }}                what an ALLOW of it implies: Describe
{{ resource_type|thing }}           transactional id;  |things for many
{% icon "search" %} {% mark "refused" %}
{% ago cluster.read_at %}           14 s ago, with the time in UTC behind it
{% resource_url cluster type name %} {% principal_url cluster name %}
{% called cluster principal %}       what people call it, where ACLs hold an id
{% beyond cluster %}                 what decides beside its ACLs, where a managed service runs it
{% canonical binding %}             the binding as JSON, for a link or a hidden field
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from django import template
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from aclweb.acl.authorizer import beyond_acls, edit_caveats
from aclweb.acl.kafka import why_not_deletable
from aclweb.acl.model import (
    NOUNS,
    WORDS,
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    spoken,
)
from aclweb.acl.notation import binding_key
from aclweb.insights.resource_use import Requests, ResourceUse
from aclweb.inventory import lists
from aclweb.inventory.access import Cell, sentences
from aclweb.inventory.current import settings_of
from aclweb.inventory.lists import MonthOfRevisions, Owned
from aclweb.inventory.models import Cluster
from aclweb.web.ask import in_words
from aclweb.web.shell import as_of, links, render_time, spelling
from aclweb.web.shell import put_back as putting
from aclweb.web.shell.glossary import OPERATIONS

if TYPE_CHECKING:
    from aclweb.insights.queries import Use
    from aclweb.inventory.access import AccessRow, Cell

register = template.Library()

# Where a request keeps the operations whose meaning its page has shown.
_MEANINGS_TOLD = "aclweb_meanings_told"

_DESCRIBED = (Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)
# Words behind the marks, for those who do not see them.
_MARKS = {
    "allowed": "allowed",
    "refused": "refused by a DENY",
    "none": "no ACL allows it",
    "some-hosts": "only from some hosts",
    "all": "through all",
    "gate": "not met",
    "unknown": "cannot tell",
    "default": "allowed, since no ACL exists",
    "cross": "does not match",
}


@register.filter
def kafka(text: str | None) -> SafeString:
    """Show a text of Kafka: hidden characters as code points, breaks where a long name may break."""
    return spelling.marked_up(text or "")


@register.filter
def listed(text: str | None) -> SafeString:
    """Show a Kafka text as `kafka` does, on a line of its own: it breaks only where that is too short."""
    return spelling.marked_up(text or "", short=spelling.SHORT_ON_A_LINE)


@register.filter
def visible(text: str | None) -> str:
    """Show a sentence, or a text of Kafka where only plain text goes: a title or a label."""
    return spelling.visible(text or "", is_name=False)


@register.filter
def paragraphs(text: str | None) -> SafeString:
    """Show what a person typed, on as many lines."""
    return format_html_join(mark_safe("<br>"), "{}", ((visible(line),) for line in (text or "").splitlines()))


@register.filter
def put_back(text: str | None) -> str:
    """What was typed, for its field; nothing where it is too long to come back."""
    return putting.put_back(text or "")


@register.filter
def why_not_put_back(text: str | None) -> str:
    """Why it does not come back, as a sentence; empty where it does."""
    return putting.why_not(text or "")


@register.filter
def naming(sentence: str, request: AccessRequest) -> SafeString:
    """Show a sentence about a question with the texts of Kafka in it set as names."""
    return spelling.with_names(
        in_words(sentence), (request.principal, request.resource_name or "", request.host)
    )


@register.filter
def with_name(sentence: str, name: str) -> SafeString:
    """Show a sentence with one text of Kafka in it set as a name."""
    return spelling.with_names(sentence, (name,))


@register.filter
def any_host(sentence: str) -> str:
    """Say "from any host" where a sentence about a question without a host says `from *`."""
    return in_words(sentence)


@register.filter
def operation(value: Operation | str) -> str:
    """Describe configs; All for ALL."""
    return WORDS[value] if isinstance(value, Operation) else spoken(value)


@register.simple_tag(takes_context=True)
def meaning(context: Mapping[str, Any], value: Operation) -> SafeString | str:
    """A title with what an operation means, where the page first shows it; meanings.js has the others show it."""
    request = context.get("request")
    told: set[Operation] = vars(request).setdefault(_MEANINGS_TOLD, set()) if request else set()
    if value in told or value not in OPERATIONS:
        return ""
    told.add(value)
    return format_html(' title="{}"', OPERATIONS[value])


@register.filter
def thing(value: ResourceType | str) -> str:
    return _thing(value, 0)


@register.filter
def things(value: ResourceType | str) -> str:
    return _thing(value, 1)


def _thing(value: ResourceType | str, place: int) -> str:
    kind = value if isinstance(value, ResourceType) else ResourceType[value]
    return NOUNS[kind][place]


@register.filter
def brings(binding: AclBinding) -> str:
    """What this binding allows beside its own operation; nothing for a DENY, which implies nothing."""
    if binding.permission_type is not PermissionType.ALLOW:
        return ""
    if binding.operation in _DESCRIBED and binding.resource_type is not ResourceType.USER:
        return "Describe"
    if binding.operation is Operation.ALTER_CONFIGS:
        return "Describe configs"
    return ""


@register.filter
def reach(binding: AclBinding) -> str:
    """EXACT, PREFIXED, ALL or UNKNOWN: which badge is beside the name."""
    if binding.pattern.is_wildcard:
        return "ALL"
    if binding.pattern_type is PatternType.LITERAL:
        return "EXACT"
    return "PREFIXED" if binding.pattern_type is PatternType.PREFIXED else "UNKNOWN"


@register.filter
def is_address(text: str) -> bool:
    """Whether a text that somebody typed may be a link: an address that a browser opens, and that runs nothing."""
    return text.startswith(("https://", "http://")) and not any(letter.isspace() for letter in text)


@register.filter
def why_kept(binding: AclBinding) -> str:
    """Why nobody can remove this ACL with any tool that knows no newer words; empty where one can."""
    return why_not_deletable(binding) or ""


@cache
def _address(file: str) -> str:
    """Return where this static file is: looked up once in the life of a process, and asked for many times a page."""
    return static(file)


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """One drawing of the sprite; it says nothing by itself, so a word is beside it."""
    return format_html(
        '<svg class="icon{}" aria-hidden="true"><use href="{}#{}"/></svg>',
        f" {extra}" if extra else "",
        _address("vendor/icons/sprite.svg"),
        name,
    )


@register.simple_tag
def mark(name: str, label: str | None = None) -> SafeString:
    """One of the marks. Its word is read out; give label="" where the word is beside it."""
    words = _MARKS.get(name, name) if label is None else label
    attributes = (
        format_html('role="img" aria-label="{}"', words) if words else format_html('aria-hidden="{}"', "true")
    )
    return format_html(
        '<svg class="mark" data-mark="{}" {}><use href="{}#{}"/></svg>',
        name,
        attributes,
        _address("img/marks.svg"),
        name,
    )


@register.simple_tag
def drawing(name: str, css: str) -> SafeString:
    """A large mark or the brand, at the size that `css` gives it."""
    return format_html(
        '<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>',
        css,
        _address("img/marks.svg"),
        name,
    )


@register.simple_tag
def ago(moment: datetime.datetime | None, otherwise: str = "never") -> SafeString | str:
    """How long ago, in the largest unit that fits; the moment itself is in the title."""
    if moment is None:
        return otherwise
    seconds = max(0, int((timezone.now() - moment).total_seconds()))
    if seconds < 60:
        words = f"{seconds} s ago"
    elif seconds < 3600:
        words = f"{seconds // 60} min ago"
    elif seconds < 48 * 3600:
        words = f"{seconds // 3600} h ago"
    else:
        words = f"{seconds // 86400} d ago"
    utc = moment.astimezone(datetime.UTC)
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>', utc.isoformat(), f"{utc:%Y-%m-%d %H:%M:%S}", words
    )


@register.filter
def utc(moment: datetime.datetime | None) -> str:
    """2026-11-21 15:20:01, in UTC as every time on a page."""
    return f"{moment.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S}" if moment else ""


@register.filter
def day(moment: datetime.datetime | None) -> str:
    """21 Nov 15:20, a time of the brokers' log as it is there."""
    return f"{moment.day} {moment:%b %H:%M}" if moment else ""


@register.filter
def initials(name: str) -> str:
    """ML for Mara Lindqvist, AD for ada."""
    words = name.split()
    return (words[0][:1] + words[-1][:1] if len(words) > 1 else name[:2]).upper()


# Links between pages that answer questions keep the moment that a page is about.


@register.simple_tag(takes_context=True)
def resource_url(
    context: Mapping[str, Any], cluster: Cluster, resource_type: ResourceType | str, name: str, tab: str = ""
) -> str:
    address = links.with_field(links.resource(cluster, resource_type, name), "tab", tab)
    return as_of.of_page(context).kept_in(address)


@register.simple_tag(takes_context=True)
def month_of_revisions(context: Mapping[str, Any], cluster: Cluster, moment: as_of.AsOf) -> MonthOfRevisions:
    return as_of.month_shown(context["request"], cluster, moment)


@register.simple_tag
def called(cluster: Cluster | str | None, principal: str | None) -> SafeString | str:
    """What people call a principal, to be shown behind it; nothing where it has no name, or there is no cluster."""
    name = lists.called(cluster, principal) if isinstance(cluster, Cluster) and principal else ""
    return format_html(' <span class="soft called">{}</span>', visible(name)) if name else ""


@register.inclusion_tag("shell/_beyond_acls.html")
def beyond(cluster: Cluster, edit: bool = False) -> dict[str, Any]:
    """What decides beside the ACLs on a cluster that a service runs; with `edit` also what becomes of ACLs there."""
    settings = settings_of(cluster)
    return {"caveats": edit_caveats(settings) if edit else beyond_acls(settings)}


@register.simple_tag(takes_context=True)
def principal_url(context: Mapping[str, Any], cluster: Cluster, name: str) -> str:
    return as_of.of_page(context).kept_in(links.principal(cluster, name))


@register.simple_tag(takes_context=True)
def explain_url(
    context: Mapping[str, Any],
    cluster: Cluster,
    principal: str,
    operation: Operation,
    resource_type: ResourceType,
    name: str,
    host: str = "*",
) -> str:
    asked = links.explain_cell(cluster, principal, operation, resource_type, name, host)
    return as_of.of_page(context).kept_in(asked)


@register.simple_tag(takes_context=True)
def cell_url(
    context: Mapping[str, Any], cluster: Cluster, kind: ResourceType, name: str, row: AccessRow, cell: Cell
) -> str:
    """The address of the reason for one cell of a matrix."""
    who = {"principal": row.principal} if row.kind == "principal" else {"who": row.kind}
    asked = links.encoded(type=kind.name, name=name, operation=cell.operation.name, **who)
    return as_of.of_page(context).kept_in(f"{reverse('cell', args=[cluster.slug])}?{asked}")


@register.filter
def cell_sentence(cell: Cell) -> SafeString:
    """Show why a cell is as it is, with the texts of Kafka in it set as names."""
    names = {binding.resource_name for binding in cell.determining} | {cell.principal, cell.resource.name}
    return spelling.with_names(sentences.cell_sentence(cell), names)


@register.filter
def cell_mark(state: str) -> str:
    """The mark for a cell's state."""
    return state if state in _MARKS else "unknown"


@register.filter
def question(request: AccessRequest) -> str:
    """The query that asks this question."""
    return links.question(request)


@register.filter
def use_of(uses: Mapping[str, Use] | None, binding: AclBinding) -> Use | None:
    """What the log shows of the use of this ACL; None where it shows nothing."""
    return uses.get(binding_key(binding)) if uses else None


@register.filter
def last_use(bindings: Sequence[AclBinding], uses: Mapping[str, Use]) -> Use:
    """What the log shows of the use of several ACLs: of the one used last, else of one it cannot tell of, if any."""
    found = [uses[binding_key(binding)] for binding in bindings]
    used = [use for use in found if use.last_at is not None]
    if used:
        return max(used, key=lambda use: str(use.last_at))
    return next((use for use in found if use.state == "cannot-tell"), found[0])


@register.simple_tag(takes_context=True)
def query(context: Mapping[str, Any], **fields: Any) -> str:
    """A query string of these fields, each letter safe in an address, and of the moment of the page."""
    fields[as_of.FIELD] = as_of.of_page(context).text
    return links.encoded(**{name: str(text) for name, text in fields.items() if text not in (None, "")})


@register.filter
def owned(owners: Mapping[str, Owned], name: str) -> Owned | None:
    """Who owns one of the names of a list, and its labels."""
    return owners.get(name)


@register.filter
def requests_of(use: ResourceUse | None, cell: Cell) -> Requests | None:
    """The requests of the log that one cell of a matrix is about; none where no use is shown."""
    return use.of(cell.principal, cell.operation) if use is not None else None


@register.filter
def canonical(binding: AclBinding) -> str:
    """The binding as one line of JSON, as a what-if takes it in `add` and `remove`."""
    return json.dumps(binding.as_dict())


@register.simple_tag
def milliseconds() -> int | None:
    return render_time.milliseconds()

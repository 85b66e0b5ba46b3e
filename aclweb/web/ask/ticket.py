"""How does an answer read in a ticket, as one paragraph and as Markdown?

Both say what the page says: the answer first, what was asked of which revision, why, and what would change it.
Names come from whoever wrote the ACLs, so none of them can be markup there.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aclweb.acl.model import NOUNS, WILDCARD, WORDS, AccessRequest, acl_text
from aclweb.inventory.current import ClusterView
from aclweb.web.ask.answering import PARTS_SHOWN, Answer
from aclweb.web.ask.client_action import ClientAnswer
from aclweb.web.shell.spelling import visible

_MOST_ACLS = 6
_MARKUP = re.compile(r"([\\`*_\[\]<>~|#])")
_TICKS = re.compile(r"`+")


@dataclass(frozen=True)
class Ticket:
    """An answer as `text`, one paragraph, and as `markdown`, which ends in its address."""

    text: str
    markdown: str


def ticket_of(answer: Answer, *, doubts: Sequence[str], log: str, offers_edits: bool, address: str) -> Ticket:
    """Return the ticket of an answer to one request.

    doubts: sentences to mind before believing it. log: what the brokers' log says of it, or nothing.
    offers_edits: whether the page offers the smallest edits.
    """
    why = list(map(acl_text, answer.determining_acls))
    edits = [
        (f"{way.heading} ({way.caption})", [f"{op}: {acl_text(binding)}" for op, binding in way.lines])
        for way in (answer.ways_out if offers_edits and not answer.depends else ())
    ]
    parts = [f"from {each.words}: {each.result_word}" for each in answer.from_hosts]
    lists = [
        ("From where", parts, PARTS_SHOWN),
        ("What allows it" if answer.verdict == "allowed" else "What denies it", why, _MOST_ACLS),
        *((heading, lines, _MOST_ACLS) for heading, lines in edits),
        ("In the brokers' log", [log] if log else [], 1),
    ]
    facts = [("Principal", _code(answer.request.principal)), *_asked(answer.request)]
    return _ticket(answer.heading, [answer.sentence], answer.view, facts, lists, doubts, address)


def client_ticket_of(
    answer: ClientAnswer, view: ClusterView, *, doubts: Sequence[str], host: str, address: str
) -> Ticket:
    """Return the ticket of an answer about a whole client action, asked for `host` (`*` for any).

    doubts: sentences to mind before believing it.
    """
    assessment = answer.assessment
    sentences = [answer.sentence, *answer.story]
    error = assessment.error
    if error is not None:
        sentences.append(f"The client sees {error.name} ({error.code}).")
    where = f" from {answer.shown_words}" if answer.shown_words else ""
    parts = [f"from {each.words}: {each.word}" for each in answer.from_parts]
    lists = [
        ("From where", parts, PARTS_SHOWN),
        (f"What is missing{where}", [acl_text(each) for each in assessment.missing], _MOST_ACLS),
        (f"What denies it{where}", [acl_text(each) for each in assessment.denied_by], _MOST_ACLS),
    ]
    facts = [
        ("Principal", _code(assessment.principal)),
        ("Client action", _code(assessment.action.name)),
        _host(host),
    ]
    return _ticket(answer.heading, sentences, view, facts, lists, (*doubts, *answer.hazards), address)


def _ticket(
    heading: str,
    sentences: Sequence[str],
    view: ClusterView,
    facts: Iterable[tuple[str, str]],
    lists: Iterable[tuple[str, Sequence[str], int]],
    doubts: Sequence[str],
    address: str,
) -> Ticket:
    """Put a ticket together. facts: (name, Markdown). lists: (heading, plain lines, how many are shown)."""
    asked_of = _asked_of(view)
    text = " ".join(map(_plain, (f"{heading}.", *sentences, *doubts, f"({asked_of}.)")))
    blocks = [f"**{_marked(heading)}.** {' '.join(map(_marked, sentences))}"]
    blocks.append(_bullets([f"{name}: {words}" for name, words in (("Cluster", _marked(asked_of)), *facts)]))
    for name, lines, most in (*lists, ("To mind", doubts, len(doubts))):
        if lines:
            shown = [_marked(line) for line in lines[:most]]
            left = len(lines) - len(shown)
            blocks.append(
                f"{_marked(name)}:\n\n{_bullets([*shown, *([f'and {left:,} more'] if left else [])])}"
            )
    blocks.append(f"<{address}>")
    return Ticket(text, "\n\n".join(blocks) + "\n")


def _asked_of(view: ClusterView) -> str:
    revision = view.revision
    if revision is None:
        return view.cluster.name
    read_at = revision.read_at.astimezone(datetime.UTC)
    return f"{view.cluster.name}, revision {revision.number:,}, read {read_at:%Y-%m-%d %H:%M:%S} UTC"


def _asked(request: AccessRequest) -> list[tuple[str, str]]:
    noun = NOUNS[request.resource_type][0]
    name = request.resource_name
    resource = f"any {noun}" if name is None else f"{noun} {_code(name)}"
    return [("Operation", WORDS[request.operation]), ("Resource", resource), _host(request.host)]


def _host(host: str) -> tuple[str, str]:
    return "Host", "any host" if host == WILDCARD else _code(host)


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _plain(sentence: str) -> str:
    return visible(sentence, is_name=False)


def _marked(sentence: str) -> str:
    """Return a sentence as Markdown shows it letter by letter."""
    return _MARKUP.sub(r"\\\1", _plain(sentence))


def _code(name: str) -> str:
    """Return a name as code in Markdown, between more backticks than it holds."""
    shown = visible(name)
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    space = " " if len(fence) > 1 else ""
    return f"{fence}{space}{shown}{space}{fence}"

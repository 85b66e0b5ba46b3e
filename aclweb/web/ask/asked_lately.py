"""What did this person ask last on a cluster, and what was the answer then?

The last few questions of each person and cluster are kept, so that they can be asked again in one press. Nobody else
is shown them. Each is the fields of its form, and its answer is that of then: what holds now, asking again tells.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import DatabaseError
from django.db.models import OuterRef, QuerySet, Subquery
from django.urls import reverse
from django.utils import timezone

from aclweb.accounts.models import User
from aclweb.acl.model import NOUNS, WILDCARD, ResourceType, spoken
from aclweb.acl.needs import GIVEN_ROLES
from aclweb.inventory.models import Cluster
from aclweb.web.ask.client_action import word_of
from aclweb.web.models import AskedLately
from aclweb.web.shell import links
from aclweb.web.shell.typed_principal import holds_pem

logger = logging.getLogger(__name__)

MOST_KEPT = 6
"""Of one person on one cluster."""
LONGEST = 1_000
"""Characters of the fields of one question; a longer one is not kept."""
# Whoever turns the pages of one answer asks once.
_SAME = timedelta(minutes=1)
_ANSWERS = {
    "allowed": ("allowed", "was allowed"),
    "refused": ("cross", "was refused"),
    "depends": ("some-hosts", "depended on the host"),
    "unknown": ("unknown", "was unknown"),
}
_ROLES = {role.key: role.noun.removeprefix("the ") for role in GIVEN_ROLES}


@dataclass(frozen=True)
class Asked:
    """One question and its answer then.

    fields: as the address of its page has them. answered: one of _ANSWERS.
    """

    fields: Mapping[str, str]
    answered: str
    at: datetime

    @property
    def mark(self) -> str:
        return _ANSWERS[self.answered][0]

    @property
    def words(self) -> str:
        """What the answer was."""
        return _ANSWERS[self.answered][1]

    @property
    def principal(self) -> str:
        return self.fields["principal"]

    @property
    def verb(self) -> str:
        """What was asked about: `consume`, `Read`."""
        if "action" in self.fields:
            return word_of(self.fields["action"])
        return spoken(self.fields["operation"])

    @property
    def names(self) -> list[tuple[str, str]]:
        """Each kind of resource with the name that was given; the name is empty for any of them."""
        if "action" in self.fields:
            return [(noun, self.fields[key]) for key, noun in _ROLES.items() if self.fields.get(key)]
        kind = self.fields["type"]
        noun = NOUNS[ResourceType[kind.removeprefix(links.ANY)]][0]
        if kind == ResourceType.CLUSTER.name:
            return [("the cluster", "")]
        return [(f"any {noun}", "")] if kind.startswith(links.ANY) else [(noun, self.fields["name"])]

    @property
    def host(self) -> str:
        """The host that was asked about; empty for every host."""
        host = self.fields["host"]
        return "" if host == WILDCARD else host

    def url(self, cluster: Cluster) -> str:
        """Return the address that asks it again."""
        if "action" in self.fields:
            return f"{reverse('client-action', args=[cluster.slug])}?{links.encoded(**self.fields)}"
        return f"{reverse('home')}?{links.encoded(cluster=cluster.slug, **self.fields)}"


def with_asked(clusters: QuerySet[Cluster], person: User | AnonymousUser) -> QuerySet[Cluster]:
    """Return the clusters with what `asked_on` needs of each, so that no query is needed for it."""
    own = AskedLately.objects.filter(owner=person.pk, cluster=OuterRef("pk"))
    return clusters.annotate(asked_lately=Subquery(own.values("questions")))


def asked_on(cluster: Cluster) -> list[tuple[Asked, str]]:
    """Return what a person asked last on a cluster of `with_asked`, the newest first, each with its address."""
    questions: str | None = getattr(cluster, "asked_lately", None)
    return [(asked, asked.url(cluster)) for asked in _read(questions or "[]")]


def note(person: User, cluster: Cluster, fields: Mapping[str, str], answered: str) -> None:
    """Keep a question that was answered; two queries. Of two at the same moment one may be left out."""
    asked = Asked(dict(fields), answered, timezone.now())
    if sum(map(len, asked.fields.values())) > LONGEST or any(map(holds_pem, asked.fields.values())):
        return
    row = AskedLately.objects.filter(owner=person, cluster=cluster).first()
    known = list(_read(row.questions)) if row is not None else []
    if known and _is_same(known[0], asked):
        return
    others = [each for each in known if each.fields != asked.fields]
    questions = _written([asked, *others][:MOST_KEPT])
    try:
        if row is None:
            AskedLately.objects.create(owner=person, cluster=cluster, questions=questions)
        else:
            AskedLately.objects.filter(pk=row.pk, questions=row.questions).update(questions=questions)
    except DatabaseError as error:
        # The answer is shown all the same.
        logger.warning("A question on %s could not be kept: %s", cluster.slug, error)


def forget(person: User, cluster: Cluster) -> None:
    """Forget what a person asked on a cluster."""
    AskedLately.objects.filter(owner=person, cluster=cluster).delete()


def _is_same(before: Asked, now: Asked) -> bool:
    return before.fields == now.fields and before.answered == now.answered and now.at - before.at < _SAME


def _written(questions: Sequence[Asked]) -> str:
    return json.dumps([[each.fields, each.answered, each.at.isoformat()] for each in questions])


def _read(text: str) -> Iterator[Asked]:
    """Yield the questions that this release has words for."""
    rows: list[Any] = json.loads(text)
    for fields, answered, at in rows:
        asked = Asked(fields, answered, datetime.fromisoformat(at))
        try:
            _ = asked.words, asked.verb, asked.names, asked.host, asked.principal
        except (KeyError, ValueError):
            continue
        yield asked

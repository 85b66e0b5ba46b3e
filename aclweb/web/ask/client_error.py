"""Which refusal does a client's exception report, and of which resource?

Exceptions and logs of the Java clients, librdkafka and what is built on it, kafka-python, sarama,
franz-go, kafka-go and KafkaJS. They name the error, often the resource, and never the principal or
the operation: those are left for the person who pasted it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from django.urls import reverse

from aclweb.acl.matching import topic_fault
from aclweb.acl.model import NOUNS, ResourceType
from aclweb.acl.needs import ACTIONS, ERRORS, Error
from aclweb.inventory.current import ClusterView
from aclweb.inventory.models import Cluster
from aclweb.web.ask.looks_like import others_with
from aclweb.web.shell import links

# What the right that is missing is on; None where no ACL helps.
_REFUSED: Mapping[str, ResourceType | None] = MappingProxyType(
    {
        "TOPIC_AUTHORIZATION_FAILED": ResourceType.TOPIC,
        "GROUP_AUTHORIZATION_FAILED": ResourceType.GROUP,
        "CLUSTER_AUTHORIZATION_FAILED": ResourceType.CLUSTER,
        "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": ResourceType.TRANSACTIONAL_ID,
        "DELEGATION_TOKEN_AUTHORIZATION_FAILED": ResourceType.USER,
        "DELEGATION_TOKEN_OWNER_MISMATCH": None,
        "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED": None,
    }
)
_BY_LETTERS = {name.replace("_", ""): name for name in _REFUSED}
# By the words of an error as it is written in any client: TopicAuthorizationException, Topic authorization failed.
_SPELT = re.compile(
    r"(?P<what>topic|group|cluster|transactional[ _]?id|delegation[ _]?token)[ _]?"
    r"(?P<how>authorization[ _]?(?:failed|exception)|owner[ _]?mismatch|request[ _]?not[ _]?allowed)"
    r"|not authorized to access (?:this )?(?P<accessed>topic|group|transactional ?id)"
    r"|not authorized to (?P<sent>send this request type)"
    r"|(?P<for_client>is not authorized for this client)"
    r"|not authorized to read from (?P<read>topic|partition)",
    re.IGNORECASE,
)
_TOPIC_NAME = r"[A-Za-z0-9._-]{1,249}"
# Texts that hold names of topics, those that speak of the refusal itself first.
_TOPICS = tuple(
    re.compile(pattern)
    for pattern in (
        r"Not authorized to access topics: \[([^\]\r\n]{0,4000})\]",
        r"Topic authorization failed for topics \[([^\]\r\n]{0,4000})\]",
        rf"(?<!KafkaError\{{)(?<=[{{ ])({_TOPIC_NAME})=TOPIC_AUTHORIZATION_FAILED",
        rf"TopicAuthorizationFailed(?:Error)?: (\{{[^}}\r\n]{{0,1000}}\}}|{_TOPIC_NAME}(?=\s|$))",
        rf"Topic ({_TOPIC_NAME}) is not authorized for this client",
        rf"Not authorized to read from topic ({_TOPIC_NAME}?)\.?(?=\s|$)",
        rf"Not authorized to read from partition ({_TOPIC_NAME})-\d+",
        rf"Subscribed topic not available: ({_TOPIC_NAME}): ",
        rf"(?:reply for topic|Topic #\d+/\d+:) ({_TOPIC_NAME}) (?:\(|with )",
        rf"sending message to topic ({_TOPIC_NAME}) ",
        rf"\btopic: \"({_TOPIC_NAME})\"",
        rf"[Tt]opic ({_TOPIC_NAME}) \[\d+\]",
    )
)
_GROUPS = tuple(
    re.compile(pattern)
    for pattern in (
        r"Not authorized to access group: ([^\"\r\n]+)",
        r"GroupAuthorizationFailed(?:Error)?: ([^\[\"\r\n][^\"\r\n]*)",
        r"[Gg]roup \"([^\"\r\n]{1,1000})\"",
        r"\bgroupId=([^\]\r\n]{1,1000})\]",
    )
)
_TRANSACTIONAL_IDS = tuple(
    re.compile(pattern)
    for pattern in (
        r"Not authorized to access transactionalId: ([^\"\r\n]+)",
        r"TransactionalIdAuthorizationFailed(?:Error)?: ([^\[\"\r\n][^\"\r\n]*)",
        r"\btransactionalId=([^\]\r\n]{1,1000})\]",
    )
)
_NAMED = {
    ResourceType.TOPIC: _TOPICS,
    ResourceType.GROUP: _GROUPS,
    ResourceType.TRANSACTIONAL_ID: _TRANSACTIONAL_IDS,
}
# A logger's class behind a message, and what clients write where they have no name.
_LOGGER = re.compile(r" \([\w.$]+\)\s*$")
_NO_NAME = re.compile(r"(?:topic|group|transactional ?id) authorization failed\.?", re.IGNORECASE)
# Characters: of a name in an address, since web servers take some four thousand; and of a text that is read.
_LONGEST_NAME = 1_000
_READ = 200_000
# One action of clients that uses a resource of each type, to begin with on its page.
_BEGIN_WITH = {
    ResourceType.TOPIC: ("produce", "topic"),
    ResourceType.GROUP: ("consume", "group"),
    ResourceType.TRANSACTIONAL_ID: ("produce-transactional", "transactional-id"),
}


@dataclass(frozen=True)
class ClientError:
    """What an exception says.

    kind: of the resource, None where no ACL helps. name: of the resource, empty where it tells none.
    more: how many other errors and names the pasted text holds.
    """

    error: Error
    kind: ResourceType | None
    name: str = ""
    more: int = 0

    @property
    def query(self) -> str:
        """The address of it: the fields of the question that are known, and the error."""
        given = {"error": self.error.name}
        if self.kind is not None:
            given |= {"type": self.kind.name, "name": self.name}
        if self.more:
            given["more"] = str(self.more)
        return links.encoded(**given)

    @property
    def heading(self) -> str:
        return f"The client reports {self.error.name} ({self.error.code})."

    @property
    def missing(self) -> str:
        """What the exception leaves open, as a sentence; empty where no question would help."""
        if self.kind is None:
            return ""
        if self.name or self.kind is ResourceType.CLUSTER:
            return "It does not say who the client is or what it did: fill in both and press Ask."
        noun = NOUNS[self.kind][0]
        return f"It does not say who the client is, what it did, or which {noun}: fill in all three and press Ask."

    @property
    def doubt(self) -> str:
        if not self.more:
            return ""
        others = f"{self.more:,} other errors or names" if self.more > 1 else "another error or name"
        return f"The text also holds {others}; the first was taken."

    def client_address(self, cluster: Cluster) -> str:
        """Return the address of the form for client actions with what is known; empty where none fits."""
        if self.kind not in _BEGIN_WITH:
            return ""
        action, role = _BEGIN_WITH[self.kind]
        return links.client_action(cluster, action=ACTIONS[action].name, **{role: self.name})

    def elsewhere(self, view: ClusterView, visible: Iterable[Cluster]) -> tuple[tuple[str, str], ...]:
        """Return (name, address) of visible clusters that have the resource, where this one does not know it."""
        if self.kind is None:
            return ()
        found = others_with(view, self.kind, self.name, visible)[:3]
        return tuple(
            (cluster.name, f"{reverse('explain', args=[cluster.slug])}?{self.query}") for cluster in found
        )


def read(text: str) -> ClientError | None:
    """Return the first refusal that a client's text reports; None where its first _READ characters report none."""
    text = text[:_READ]
    reported = list(dict.fromkeys(_reported(text)))
    if not reported:
        return None
    error = ERRORS[reported[0]]
    kind = _REFUSED[error.name]
    names = list(dict.fromkeys(_names(text, kind))) if kind is not None else []
    more = len(reported) - 1 + max(0, len(names) - 1)
    return ClientError(error, kind, names[0] if names else "", more)


def of_query(query: Mapping[str, str]) -> ClientError | None:
    """Return the error that an address holds; None where it holds none."""
    error = ERRORS.get(query.get("error", ""))
    if error is None or error.name not in _REFUSED:
        return None
    more = query.get("more", "")
    others = int(more) if re.fullmatch(r"[0-9]{1,6}", more) else 0
    return ClientError(error, _REFUSED[error.name], query.get("name", ""), others)


def _reported(text: str) -> Iterator[str]:
    """Yield the errors of a text by their names, in its order."""
    for found in _SPELT.finditer(text):
        if found["what"]:
            words = f"{found['what']}_{found['how']}"
            name = re.sub(r"[ _]", "", words).upper().replace("EXCEPTION", "FAILED")
        elif found["sent"]:
            name = "CLUSTERAUTHORIZATIONFAILED"
        else:
            what = found["accessed"] or "topic"
            name = f"{what.replace(' ', '').upper()}AUTHORIZATIONFAILED"
        if name in _BY_LETTERS:
            yield _BY_LETTERS[name]


def _names(text: str, kind: ResourceType) -> Iterator[str]:
    for pattern in _NAMED.get(kind, ()):
        for found in pattern.finditer(text):
            for name in _listed(found[1]) if kind is ResourceType.TOPIC else (found[1],):
                plain = _LOGGER.sub("", name).strip()
                is_topic = kind is ResourceType.TOPIC
                if not plain or _NO_NAME.fullmatch(plain) or len(plain) > _LONGEST_NAME:
                    continue
                if not is_topic or topic_fault(plain) is None:
                    yield plain


def _listed(text: str) -> tuple[str, ...]:
    """Return the names in a list or a set; old versions of kafka-python print a topic as the set of its letters."""
    is_set = text.startswith("{")
    names = tuple(name.strip(" '\"") for name in text.strip("{}").split(","))
    return () if is_set and all(len(name) <= 1 for name in names) else names

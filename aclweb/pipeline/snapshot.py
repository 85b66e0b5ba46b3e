"""What does a snapshot file say about a cluster?

Its first line is a JSON object with everything beside the ACLs, then comes one ACL a line.
The digest names the ACLs: equal digests mean equal ACLs, in whatever order.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aclweb.acl.cli.commands.options import why_not_decided
from aclweb.acl.matching import SortedNames
from aclweb.acl.model import (
    ALLOW_EVERYONE_KEY,
    SUPER_USERS_KEY,
    AclBinding,
    AclError,
    AuthorizerSettings,
    NotationError,
    ResourceType,
)
from aclweb.acl.notation import binding_key, parse_object, read_acl_file
from aclweb.pipeline.given import text_of

HEADER_KEYS = (
    "cluster",
    "revision",
    "config",
    "authorizer",
    "kafka_version",
    "topics",
    "groups",
    "topics_known",
    "groups_known",
)


@dataclass(frozen=True)
class Snapshot:
    """One cluster as it was read: `bindings` by their keys, without repetitions.

    existing: all names there are, of the resource types of which that is known. digest: of the ACLs. decision_digest:
    of all that a decision depends on; equal ones decide every request alike.
    """

    cluster: str
    revision: int | None
    settings: AuthorizerSettings
    bindings: Mapping[str, AclBinding]
    digest: str
    decision_digest: str
    existing: Mapping[ResourceType, SortedNames] = field(default_factory=dict)


def read_snapshot(path: Path) -> Snapshot:
    """Return what the file says; raise NotationError with a sentence for each bad line."""
    text = text_of(path, "The snapshot")

    first, _, rest = text.partition("\n")
    header = _header(first, path)
    # An empty line in place of the header, so that messages count lines as an editor does.
    file = read_acl_file(f"\n{rest}", source=str(path), format="jsonl", refuse=why_not_decided)
    bindings = {binding_key(acl): acl for acl in file.bindings}
    declared = {name: header.get(name) for name in ("config", "authorizer", "kafka_version")}
    digest = digest_of(bindings)
    return Snapshot(
        cluster=str(header.get("cluster") or ""),
        revision=_revision(header.get("revision"), path),
        settings=_settings(header, path),
        bindings=bindings,
        digest=digest,
        decision_digest=hashlib.sha256(json.dumps([digest, declared], sort_keys=True).encode()).hexdigest(),
        existing=_existing(header, path),
    )


def digest_of(keys: Mapping[str, AclBinding]) -> str:
    """Return the SHA-256 over the sorted keys of the ACLs."""
    return hashlib.sha256("".join(f"{key}\n" for key in sorted(keys)).encode("ascii")).hexdigest()


def _header(line: str, path: Path) -> dict[str, object]:
    wanted = f"the first line is an object with the keys {', '.join(HEADER_KEYS)}"
    try:
        header = parse_object(line)
    except AclError as error:
        raise NotationError(f"{path}:1: {error} In a snapshot {wanted}.") from error
    unknown = sorted(header.keys() - set(HEADER_KEYS))
    if unknown:
        raise NotationError(f"{path}:1: The key {unknown[0]!r} is none of a snapshot; {wanted}.")
    return header


def _revision(value: object, path: Path) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise NotationError(f"{path}:1: The revision is {value!r}; write a whole number or null.")


def _existing(header: Mapping[str, object], path: Path) -> dict[ResourceType, SortedNames]:
    """Return the topics and groups of which the header says that they are all."""
    found = {}
    for kind, key in ((ResourceType.TOPIC, "topics"), (ResourceType.GROUP, "groups")):
        names = header.get(key)
        if names is not None and not (
            isinstance(names, list) and all(isinstance(name, str) for name in names)
        ):
            raise NotationError(f"{path}:1: The {key} are no list of names; write one, or null.")
        if names is not None and header.get(f"{key}_known") == "all":
            found[kind] = SortedNames(names)
    return found


def _settings(header: Mapping[str, object], path: Path) -> AuthorizerSettings:
    config = header.get("config") or {}
    if not isinstance(config, dict):
        raise NotationError(f"{path}:1: The config is {config!r}; write an object, {{}} if nothing is known.")
    undeclared = {
        setting
        for setting, key in (("super_users", SUPER_USERS_KEY), ("allow_everyone", ALLOW_EVERYONE_KEY))
        if key not in config
    }
    if header.get("authorizer") == "glob":
        raise NotationError(
            f"{path}:1: The authorizer is 'glob', a proposal that no broker runs; use another."
        )
    try:
        return AuthorizerSettings.read(
            authorizer=_word(header, "authorizer"),
            kafka_version=_word(header, "kafka_version"),
            config=config,
            undeclared=frozenset(undeclared),
        )
    except AclError as error:
        raise NotationError(f"{path}:1: {error}") from error


def _word(header: Mapping[str, object], key: str) -> str | None:
    value = header.get(key)
    if value is None or isinstance(value, str):
        return value
    raise AclError(f"The {key} is {value!r}; write a text.")

"""Which options mean the same in every command: the authorizer, its settings, the file of ACLs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass

from aclweb.acl.cli.commands.console import UsageError
from aclweb.acl.matching import is_glob, matching_of
from aclweb.acl.model import (
    ALLOW_EVERYONE_KEY,
    SUPER_USERS_KEY,
    VERSIONS,
    AclBinding,
    AclError,
    AuthorizerSettings,
    PatternType,
    shown,
)
from aclweb.acl.notation import FORMATS

LONGEST_GLOB = 4_096
"""A longer text with wildcards is refused, because comparing patterns takes time by their length."""

BEGINNING = 40
"""So many characters of a text that is too long are shown."""

ONLY_IN_GLOB = "pattern_type is 'GLOB', which only the authorizer 'glob' knows; use LITERAL or PREFIXED."


@dataclass(frozen=True, slots=True)
class Declared:
    """What the command line says about the broker; None where it says nothing."""

    authorizer: str | None
    kafka_version: str | None
    super_users: str | None
    allow_everyone: bool | None

    @property
    def config(self) -> dict[str, object]:
        """The settings given, under Kafka's own keys."""
        settings: dict[str, object] = {}
        if self.super_users is not None:
            settings[SUPER_USERS_KEY] = self.super_users
        if self.allow_everyone is not None:
            settings[ALLOW_EVERYONE_KEY] = self.allow_everyone
        return settings


def add_rule_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the broker")
    group.add_argument(
        "--authorizer",
        metavar="A",
        help="standard (KRaft, the default), acl (ZooKeeper mode) or glob (KRaft with the GLOB proposal)",
    )
    group.add_argument("--kafka-version", metavar="V", help="default: the newest of that authorizer")
    group.add_argument("--super-users", metavar="TEXT", help="as in super.users: 'User:a;User:b'")
    group.add_argument("--allow-everyone", action="store_true", help="as allow.everyone.if.no.acl.found=true")


def add_acl_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    parser.add_argument(
        "--acls", metavar="FILE", required=required, help="the ACLs in force; - is standard input"
    )
    parser.add_argument("--format", choices=FORMATS, help="of the ACL files; recognised when not given")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line")


def declared(given: argparse.Namespace) -> Declared:
    """Return what the options of `add_rule_options` say."""
    return Declared(given.authorizer, given.kafka_version, given.super_users, given.allow_everyone or None)


def settings_from(given: argparse.Namespace) -> AuthorizerSettings:
    """Return the authorizer settings that the options ask for; raise UsageError for what no broker has."""
    said = declared(given)
    try:
        return AuthorizerSettings.read(
            authorizer=said.authorizer, kafka_version=said.kafka_version, config=said.config
        )
    except AclError as error:
        raise UsageError(str(error)) from error


def defaults_from(given: argparse.Namespace) -> Declared:
    """Return what the options say for scenarios that do not say it themselves.

    Which authorizer a version or setting is for may be written in the scenarios, so here only what is
    right for none is refused. Raises UsageError.
    """
    said = declared(given)
    authorizers = (said.authorizer,) if said.authorizer is not None else tuple(VERSIONS)
    single: list[tuple[str | None, Mapping[str, object]]] = [(said.kafka_version, {})]
    single.extend((None, {key: value}) for key, value in said.config.items())
    for version, config in single:
        errors: list[AclError] = []
        for authorizer in authorizers:
            try:
                AuthorizerSettings.read(authorizer=authorizer, kafka_version=version, config=config)
            except AclError as error:
                errors.append(error)
        if len(errors) == len(authorizers):
            raise UsageError(str(errors[0])) from errors[0]
    return said


def why_not_decided(binding: AclBinding, settings: AuthorizerSettings | None = None) -> str | None:
    """Return why an authorizer (any released one when None) does not decide by this ACL, None if it does."""
    if settings is None or PatternType.GLOB not in matching_of(settings).pattern_types:
        return ONLY_IN_GLOB if binding.pattern_type is PatternType.GLOB else None
    globs = [("principal", binding.principal), ("host", binding.host)]
    globs = [(key, text) for key, text in globs if len(text) > LONGEST_GLOB and is_glob(text)]
    if binding.pattern_type is PatternType.GLOB:
        globs.append(("resource_name", binding.resource_name))
    for key, text in globs:
        if len(text) > LONGEST_GLOB:
            start = shown(text[:BEGINNING])
            return (
                f"{key} is a glob of {len(text):,} characters that begins {start}; "
                f"write one of at most {LONGEST_GLOB:,}."
            )
    return None

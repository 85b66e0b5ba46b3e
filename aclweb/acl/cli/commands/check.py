"""check: do these policies answer as their authors expect?"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.cli.commands.console import (
    BAD_INPUT,
    DID_NOT_HOLD,
    DONE,
    as_json,
    emit,
    joined,
    one_line,
    request_text,
    tell,
    with_progress,
)
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.options import (
    Declared,
    add_json_option,
    add_rule_options,
    defaults_from,
    why_not_decided,
)
from aclweb.acl.model import AccessRequest, AclError, AuthorizerSettings, NotationError, number_of, shown
from aclweb.acl.notation import binding_from_dict, parse_object, request_from_dict

KEYS = ("id", "authorizer", "kafka_version", "config", "acls", "request", "requests", "expected")
Part = TypeVar("Part")

EXPECTED = (Result.ALLOWED.value, Result.DENIED.value)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One line of a scenario file: ACLs, questions, and the answers they are to give."""

    name: object
    settings: AuthorizerSettings
    index: AclIndex
    requests: tuple[AccessRequest, ...]
    expected: tuple[str, ...]
    is_list: bool


@dataclass(frozen=True, slots=True)
class BadScenario:
    """A line that is no scenario, and why."""

    name: object
    line: int
    reason: str


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenarios", metavar="SCENARIOS", help="one JSON object a line; - is standard input")
    add_rule_options(parser)
    add_json_option(parser)


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print for each scenario whether its answers are the expected ones; bad scenarios do not stop the others."""
    defaults = defaults_from(given)
    data = inputs.read_bytes(given.scenarios).removeprefix(b"\xef\xbb\xbf")
    held = failed = 0
    bad: list[str] = []

    def answers() -> Iterator[str]:
        nonlocal held, failed
        for scenario in with_progress(read_scenarios(data, defaults), what="Checked"):
            if isinstance(scenario, BadScenario):
                bad.append(f"{given.scenarios}:{scenario.line}: {scenario.reason}")
                yield _bad_answer(scenario, json=given.json)
                continue
            results = tuple(
                decide(request, scenario.index, scenario.settings)[0].value for request in scenario.requests
            )
            if results == scenario.expected:
                held += 1
            else:
                failed += 1
            yield _answer(scenario, results, json=given.json)

    emit(answers())
    tell(*bad)
    tell(
        f"{number_of(held + failed + len(bad), 'scenario')}: {held:,} held, {failed:,} did not, {len(bad):,} bad."
    )
    if bad:
        return BAD_INPUT
    return DID_NOT_HOLD if failed else DONE


def read_scenarios(data: bytes, defaults: Declared) -> Iterator[Scenario | BadScenario]:
    """Return each line of a file as the scenario that it is, or as a bad one with the reason."""
    for line, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip(b" \t\r"):
            continue
        fields: dict[str, object] = {}
        try:
            fields = parse_object(raw.decode("utf-8"))
            yield _scenario(fields, defaults)
        except UnicodeDecodeError as error:
            yield BadScenario(None, line, f"Byte {error.start + 1} is not UTF-8; save the file as UTF-8.")
        except AclError as error:
            yield BadScenario(fields.get("id"), line, str(error))


def _scenario(fields: Mapping[str, object], defaults: Declared) -> Scenario:
    unknown = sorted(fields.keys() - set(KEYS))
    if unknown:
        raise NotationError(
            f"{joined([shown(key) for key in unknown])} is no key of a scenario; it has {joined(KEYS)}."
        )
    name = fields.get("id")
    if not isinstance(name, (str, int, float)) or isinstance(name, bool):
        raise NotationError(f"id is {shown(name)}; give each scenario a text or a number as its id.")
    settings = AuthorizerSettings.read(
        authorizer=_text_or_none(fields, "authorizer", defaults.authorizer),
        kafka_version=_text_or_none(fields, "kafka_version", defaults.kafka_version),
        config={**defaults.config, **_config(fields)},
    )
    bindings = [
        _part(binding_from_dict, given, f"ACL {number}")
        for number, given in enumerate(_list(fields, "acls"), start=1)
    ]
    for number, binding in enumerate(bindings, start=1):
        reason = why_not_decided(binding, settings)
        if reason is not None:
            raise NotationError(f"ACL {number}: {reason}")
    if ("request" in fields) == ("requests" in fields):
        raise NotationError("A scenario has either 'request' or 'requests'; give one of them.")
    is_list = "requests" in fields
    asked = _list(fields, "requests") if is_list else [fields["request"]]
    requests = [
        _part(request_from_dict, given, f"request {number}") for number, given in enumerate(asked, start=1)
    ]
    return Scenario(
        name,
        settings,
        AclIndex(bindings),
        tuple(requests),
        _expected(fields, len(requests), is_list),
        is_list,
    )


def _expected(fields: Mapping[str, object], count: int, is_list: bool) -> tuple[str, ...]:
    if "expected" not in fields:
        raise NotationError("'expected' is missing; say ALLOWED or DENIED.")
    words = _list(fields, "expected") if is_list else [fields["expected"]]
    for word in words:
        if word not in EXPECTED:
            raise NotationError(f"expected is {shown(word)}; use ALLOWED or DENIED.")
    if len(words) != count:
        raise NotationError(
            f"expected has {number_of(len(words), 'answer')} for {number_of(count, 'request')}; give one each."
        )
    return tuple(str(word) for word in words)


def _config(fields: Mapping[str, object]) -> Mapping[str, object]:
    config = fields.get("config", {})
    if not isinstance(config, dict):
        raise NotationError(
            f'config is {shown(config)}; write an object such as {{"super.users": "User:a"}}.'
        )
    return config


def _text_or_none(fields: Mapping[str, object], key: str, default: str | None) -> str | None:
    if key not in fields:
        return default
    value = fields[key]
    if not isinstance(value, str):
        raise NotationError(f"{key} is {shown(value)}, which is no text; write it in quotes.")
    return value


def _list(fields: Mapping[str, object], key: str) -> list[object]:
    if key not in fields:
        raise NotationError(f"{key!r} is missing; a scenario has it as a list.")
    value = fields[key]
    if not isinstance(value, list):
        raise NotationError(f"{key} is {shown(value)}; write a list.")
    return value


def _part(build: Callable[[Mapping[str, object]], Part], given: object, what: str) -> Part:
    if not isinstance(given, dict):
        raise NotationError(f"{what} is {shown(given)}; write an object.")
    try:
        return build(given)
    except AclError as error:
        raise NotationError(f"{what}: {error}") from error


def _answer(scenario: Scenario, results: tuple[str, ...], *, json: bool) -> str:
    holds = results == scenario.expected
    if json:
        answer: dict[str, object] = {"id": scenario.name, "ok": holds}
        if scenario.is_list:
            answer |= {"expected": list(scenario.expected), "results": list(results)}
        else:
            answer |= {"expected": scenario.expected[0], "result": results[0]}
        return as_json(answer)
    if holds:
        return f"ok    {one_line(str(scenario.name))}"
    wrong = [
        f"{request_text(request)}: expected {expected}, got {result}"
        for request, expected, result in zip(scenario.requests, scenario.expected, results, strict=True)
        if expected != result
    ]
    return f"FAIL  {one_line(str(scenario.name))}: {'; '.join(wrong)}"


def _bad_answer(scenario: BadScenario, *, json: bool) -> str:
    if json:
        return as_json({"id": scenario.name, "ok": False, "error": scenario.reason})
    name = "(no id)" if scenario.name is None else one_line(str(scenario.name))
    return f"BAD   {name}: {scenario.reason}"

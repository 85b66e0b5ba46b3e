"""Write docs/needs.md, what each client action and each call of the protocol needs, from the table itself.

python tools/needs_page.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from aclweb.acl.model import (  # noqa: E402
    NOUNS,
    WORDS,
    AuthorizerSettings,
)
from aclweb.acl.needs import (  # noqa: E402  # noqa: E402
    ACTIONS,
    APIS,
    ERRORS,
    GIVEN_ROLES,
    Api,
    Call,
    Case,
    Check,
    ClientAction,
    Refusal,
    Right,
    needed_acls,
)

PAGE = ROOT / "docs" / "needs.md"

HEAD = """# What access a client action needs

Producing and consuming are sequences of calls, and the broker authorizes each call. `needs` lists the
calls of an action, the access that each needs, and whether it would succeed:

```sh
python -m aclweb.acl needs produce-idempotent consume admin-create-topics
python -m aclweb.acl needs INIT_PRODUCER_ID 10
python -m aclweb.acl needs consume --acls acls.txt \\
    --principal User:bob --host 10.0.0.7 --topic orders --group billing
```

An action is one of the client actions below, or a call of the protocol by its name, in any
spelling, or by its key; `produce` is the action, and `PRODUCE` the call. With `--acls` each call is
decided, for every topic, group and transactional id that is given (each option may be repeated);
the first call that fails is marked, because its error is what the client sees. Calls that a client
makes at once are all marked, with each error that it may report first (`may_fail_first` of a call, and
`errors`). The smallest set of ACLs that would let the action through is proposed. `--json` prints all of it, an
object for each action. The host `*` asks for every host at once: where they differ, `any_host` holds
the outcome for each part of them, and no ACL is proposed, since one for every host would open too much.

Where several rights are joined by *or*, any one of them is enough; the broker tries them in this
order. Everything is about the newest Kafka unless a version is named; `--kafka-version` and
`--authorizer` ask about another. A right on a topic may come from an ACL on another operation:
Read, Write, Delete and Alter bring Describe, and Alter configs brings Describe configs.
"""

REFUSALS = """## What a refusal does

| | |
| --- | --- |
"""

OUTCOMES = """## How an action ends

| `outcome` | |
| --- | --- |
| `WORKS` | everything that the action needs is allowed |
| `SHOWS_LESS` | there is no error, but what is refused is left out of an answer |
| `FAILS` | a call is refused with an error; `first_failing` is its place among `calls`, counted from 0 |
| `UNDECIDED` | an ACL with a word that aclweb does not know could change the result |

A call that is `NOT_ASKED` is about names that nobody gave. Calls that are not always made are
decided too, with `"needed": false`, and do not count. Calls marked *at once* below have no order among
themselves that holds for every client, so neither have their errors.
"""


def page() -> str:
    """Return the whole page."""
    parts = [HEAD, errors(), REFUSALS + refusals(), OUTCOMES, "## Client actions\n"]
    parts += [action(one) for one in ACTIONS.values()]
    parts.append(calls())
    return "\n".join(parts)


def errors() -> str:
    rows = "".join(f"| {error.code} | `{error.name}` | {error.meaning} |\n" for error in ERRORS.values())
    return f"## The errors\n\n| code | name | meaning |\n| --- | --- | --- |\n{rows}"


def refusals() -> str:
    return "".join(f"| `{refusal.value}` | {refusal.sentence} |\n" for refusal in Refusal)


def action(one: ClientAction) -> str:
    """One client action: what it needs in all, and call by call."""
    rows = "".join(
        f"| {place} | {_call(call)} | {_checks(call.case.checks, call)} |\n"
        for place, call in enumerate(one.calls, start=1)
    )
    notes = "".join(f"\n{note}\n" for note in one.notes)
    return (
        f"### {one.name}\n\nThe client {one.does}. {_in_all(one)}\n\n"
        f"| | call | needs, else |\n| --- | --- | --- |\n{rows}{notes}"
    )


def calls() -> str:
    rows = "".join(
        f"| {api.key} | {api.name} | {_when(api, case)} | {_checks(case.checks, None)} |\n"
        for api in APIS.values()
        for case in api.cases
    )
    notes = "".join(f"* {api.name}: {note}\n" for api in APIS.values() for note in _notes(api))
    return (
        "## Every call of the protocol\n\n| key | call | when | needs, else |\n| --- | --- | --- | --- |\n"
        f"{rows}\n{notes}"
    )


def _in_all(one: ClientAction) -> str:
    """The smallest set of ACLs for the action, in the words of its options."""
    names = {role.key: (f"{role.key.upper()}",) for role in GIVEN_ROLES}
    found = needed_acls(one, principal="User:P", host="10.0.0.1", names=names, settings=AuthorizerSettings())
    texts = []
    for acl in found:
        where = "the cluster" if acl.resource_type.name == "CLUSTER" else f"{NOUNS[acl.resource_type][0]} "
        name = "" if acl.resource_type.name == "CLUSTER" else f"`{acl.resource_name}`"
        prefix = " (PREFIXED)" if acl.pattern_type.name == "PREFIXED" else ""
        texts.append(f"{WORDS[acl.operation]} on {where}{name}{prefix}")
    return f"In all: {', '.join(texts)}." if texts else "No ACL is needed."


def _call(call: Call) -> str:
    about = ", ".join(role.noun for role in call.on)
    when = call.when or call.case.when
    text = f"{call.api.name} {when}".strip() if not call.when else f"{call.api.name}, {when}"
    marks = ("" if call.needed else " (not counted)") + (" (at once)" if call.at_once else "")
    return f"{text}{f' ({about})' if about else ''}{marks}"


def _when(api: Api, case: Case) -> str:
    return f"{case.when}{_span(str(case.span) or str(api.span))}".strip()


def _checks(checks: tuple[Check, ...], call: Call | None) -> str:
    return "; ".join(_check(check, call) for check in checks) or "nothing"


def _check(check: Check, call: Call | None) -> str:
    rights = " or ".join(_right(right, call) for right in check.any_of)
    outcome = f"{check.error.code} {check.refusal.value}" if check.error else check.refusal.value
    return f"{rights}{_span(str(check.span))}, else *{outcome}*"


def _right(right: Right, call: Call | None) -> str:
    noun = NOUNS[right.resource_type][0]
    where = f"any one {noun}" if right.any_one else noun
    if call is not None and not right.any_one:
        where = call.role(right.resource_type).noun
    return f"{WORDS[right.operation]} on {where}{_span(str(right.span))}"


def _span(text: str) -> str:
    return f" ({text})" if text else ""


def _notes(api: Api) -> Iterator[str]:
    found = [api.note, *(row.sentence for row in api.documented)]
    found += [note for case in api.cases for note in (case.note, *(check.note for check in case.checks))]
    yield from dict.fromkeys(note for note in found if note)


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} written: {len(ACTIONS)} client actions, {len(APIS)} calls.")


if __name__ == "__main__":
    main()

"""Does the whole product work on this machine? The main story, walked through the real running parts.

    python -m devstack.check [--lite]        what ./run --check calls

A fresh data directory, `manage.py up` as a newcomer starts it, and people who sign in over
HTTP: one asks, simulates and requests, another approves, a worker writes to the real
ZooKeeper and the real broker and reads back, Spark reads the logs. Each step is printed
with what it found; the first one that does not hold ends the story with exit status 1.
Where the broker's jars cannot be had, its steps are reported as not done, and nothing else
hangs on them.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aclweb.acl.model import AclBinding, Operation, PatternType, PermissionType, ResourceType
from aclweb.clusters import Connection, connect
from aclweb.clusters.zookeeper import ZOOKEEPER
from devstack.demo import company, edge_broker
from devstack.jars import kafka_jars
from devstack.person import Answer, Browser
from devstack.product import Product, StoryError

START_SECONDS = 240
JARS_SECONDS = 1200
CHANGE_SECONDS = 120
INSIGHTS_SECONDS = 420


def grant(principal: str, operation: Operation, topic: str) -> AclBinding:
    """Return the ACL that the story asks for: an ALLOW for one topic, from anywhere."""
    return AclBinding(
        resource_type=ResourceType.TOPIC,
        resource_name=topic,
        pattern_type=PatternType.LITERAL,
        principal=principal,
        host="*",
        operation=operation,
        permission_type=PermissionType.ALLOW,
    )


# What is missing in the demo on purpose: each of these is refused before the change and allowed after it.
ON_PROD = grant("User:search-api", Operation.READ, "catalog.products.v3")


HOST = "10.20.5.11"


ON_EDGE = grant("User:stock-counter", Operation.WRITE, "edge.audit.v1")


@dataclass
class Story:
    """The steps in order; each returns what it found, as the end of a printed line."""

    directory: Path
    lite: bool
    product: Product = field(init=False)
    people: dict[str, Browser] = field(default_factory=dict)
    passwords: dict[str, str] = field(default_factory=dict)
    change: str = ""

    def __post_init__(self) -> None:
        self.product = Product(self.directory, lite=self.lite)

    @property
    def cluster(self) -> str:
        return f"{company.PROD}-file" if self.lite else company.PROD

    def steps(self) -> list[tuple[str, Callable[[], str]]]:
        both = [
            ("everything starts and prints its address and the logins", self.starts),
            ("the site, its database, its queue and a worker are ready", self.is_ready),
            ("ada, ben and cho sign in with the printed passwords, and not with a wrong one", self.sign_in),
            (f"the ACLs of {self.cluster} were read", self.reads_the_cluster),
            ("a topic's page and the API name the ACLs that affect it", self.shows_a_topic),
            ("a client is refused, with the reason and what would help", self.explains),
            ("a what-if shows who would gain what, and changes nothing", self.simulates),
            ("ada requests the ACL, and cannot approve it herself", self.requests),
            ("cho, who only looks, cannot approve it either", self.viewer_cannot_approve),
        ]
        if self.lite:
            return [
                *both,
                ("ben approves, and the page gives the commands to copy", self.approves_into_commands),
                ("the audit trail is whole", self.audits),
                ("Ctrl-C stops everything", self.stops),
                ("a second start finds everything as it was left", self.starts_again),
                ("Ctrl-C stops everything again", self.stops),
            ]
        return [
            *both,
            ("ben approves, a worker writes the ACL to ZooKeeper and reads it back", self.approves_on_prod),
            ("ZooKeeper itself holds the ACL, as brokers read it", self.is_in_zookeeper),
            ("the same client is allowed now", self.allows),
            ("the KRaft broker runs and its ACLs were read", self.broker_runs),
            ("a produce fails before the change and succeeds after it", self.produces_after_a_change),
            ("undoing the change takes the right away again", self.undoes),
            ("Spark reads the authorizer logs of prod-eu and the site shows what was used", self.learns),
            ("the audit trail is whole", self.audits),
            ("Ctrl-C stops everything", self.stops),
            ("a second start finds everything as it was left", self.starts_again),
            ("Ctrl-C stops everything again", self.stops),
        ]

    # --- Starting ---

    def starts(self) -> str:
        self.product.start()
        address = self.product.wait_for(r"ready at (http://\S+)", seconds=START_SECONDS)[1]
        for name in ("ada", "ben", "cho", "dot"):
            found = self.product.wait_for(rf"sign in as {name}\s+password (\S+)", seconds=START_SECONDS)
            self.passwords[name] = found[1]
        self.people = {name: Browser(address, name) for name in self.passwords}
        return address

    def is_ready(self) -> str:
        answer = self.people["ada"].get("/readyz")
        state = json.loads(answer.text)
        expect(answer.status == 200 and state["worker"] == "ok", f"/readyz says {answer.text}")
        return ", ".join(f"{name} {value}" for name, value in state.items() if isinstance(value, str))

    def sign_in(self) -> str:
        stranger = Browser(self.people["ada"].address, "ada")
        answer = stranger.send("/sign-in/", page="/sign-in/", username="ada", password="wrong")  # noqa: S106
        expect("/sign-in/" in answer.address, f"A wrong password leads to {answer.address}.")
        expect(
            "/sign-in/" in stranger.get("/clusters/").address,
            "Somebody who is not signed in sees the clusters.",
        )
        for name in ("ada", "ben", "cho"):
            self.people[name].sign_in(self.passwords[name])
        return "as wanted"

    # --- Looking ---

    def reads_the_cluster(self) -> str:
        answer = self.people["ada"].api(f"/clusters/{self.cluster}/")
        wanted = len(set(company.bindings(company.PROD)))
        expect(
            answer["acls"] == wanted and answer["state"] == "ok",
            f"It holds {wanted} ACLs, and the site says {answer}",
        )
        return f"{wanted} ACLs, revision {answer['revision']}"

    def shows_a_topic(self) -> str:
        name = ON_PROD.resource_name
        page = self.people["cho"].get(f"/c/{self.cluster}/topics/{name}?tab=acls")
        expect(page.status == 200 and name in page.text, f"The page of {name} answers {page.status}.")
        answer = self.people["cho"].api(f"/clusters/{self.cluster}/affecting/?resource=TOPIC:{name}")
        acls = answer["acls"]
        assert isinstance(acls, list)
        missing = [acl["principal"] for acl in acls if html.escape(acl["principal"]) not in page.text]
        expect(bool(acls), f"No ACL affects {name}.")
        expect(not missing, f"The page of {name} does not show the ACLs of {', '.join(missing)}.")
        return f"{len(acls)} ACLs affect {name}"

    def explains(self) -> str:
        answer = self._decide("DENIED")
        expect(answer["smallest_fix"] is not None, "It does not say what would help.")
        page = self.people["cho"].get(
            f"/c/{self.cluster}/explain/",
            principal=ON_PROD.principal,
            operation=ON_PROD.operation.name,
            type=ON_PROD.resource_type.name,
            name=ON_PROD.resource_name,
            host=HOST,
        )
        expect(page.status == 200 and "refused" in page.text, f"The explainer's page answers {page.status}.")
        sentences = answer["sentences"]
        assert isinstance(sentences, list)
        return str(sentences[0])

    def allows(self) -> str:
        self._decide("ALLOWED")
        return f"{ON_PROD.principal} may {ON_PROD.operation.pascal} {ON_PROD.resource_name}"

    def _decide(self, wanted: str) -> Mapping[str, object]:
        asked = {
            "principal": ON_PROD.principal,
            "host": HOST,
            "operation": ON_PROD.operation.name,
            "resource_type": ON_PROD.resource_type.name,
            "resource_name": ON_PROD.resource_name,
        }
        answer = self.people["cho"].api(f"/clusters/{self.cluster}/decide/", asked)
        expect(answer["result"] == wanted, f"It answers {answer['result']} and {wanted} is right.")
        return answer

    def simulates(self) -> str:
        answer = self.people["ada"].api(f"/clusters/{self.cluster}/what-if/", {"add": [ON_PROD.as_dict()]})
        groups, counts = answer["groups"], answer["counts"]
        assert isinstance(groups, list)
        assert isinstance(counts, dict)
        gains, loses = (
            [group["principals"] for group in groups if group["category"] == category]
            for category in ("gains", "loses")
        )
        expect(
            bool(gains) and not loses and all(who == {"in": [ON_PROD.principal]} for who in gains),
            f"It gives to {gains} and takes from {loses}.",
        )
        page = self.people["ada"].get(f"/c/{self.cluster}/what-if/", add=json.dumps(ON_PROD.as_dict()))
        expect(
            page.status == 200 and ON_PROD.principal in page.text, f"The what-if page answers {page.status}."
        )
        self._decide("DENIED")
        return f"{counts['gains']} accesses gained, none lost"

    # --- Changing ---

    def requests(self) -> str:
        self.change = self._request(self.cluster, ON_PROD)
        answer = self._act("ada", "approve")
        expect(answer.status == 422, f"Her own approval is answered with {answer.status}.")
        expect(self._state() == "IN_REVIEW", f"It is {self._state()}.")
        return f"{self.change} waits for review"

    def viewer_cannot_approve(self) -> str:
        shown = self.people["cho"].get(f"/changes/{self.change}/")
        expect(shown.status == 200, f"cho cannot see {self.change} (status {shown.status}).")
        expect('value="approve"' not in shown.text, "The page offers to approve.")
        expect(self._state() == "IN_REVIEW", f"It is {self._state()}.")
        return "the page offers no approval"

    def approves_into_commands(self) -> str:
        self._act("ben", "approve")
        expect(self._state() == "APPROVED", f"It is {self._state()}.")
        page = self.people["ada"].get(f"/changes/{self.change}/")
        expect("kafka-acls" in page.text and "--add" in page.text, "The page gives no command.")
        return "kafka-acls --add ..."

    def approves_on_prod(self) -> str:
        return self._approve_and_wait()

    def is_in_zookeeper(self) -> str:
        port = (self.directory / "demo" / "zookeeper" / "ports").read_text().split()[0]
        with connect(Connection(ZOOKEEPER, f"127.0.0.1:{port}/kafka")) as client:
            there = client.read_acls().bindings
        expect(ON_PROD in there, "It does not have the ACL.")
        return f"{len(there)} ACLs at 127.0.0.1:{port}/kafka"

    def broker_runs(self) -> str:
        found = self.product.wait_for(
            r"edge-eu, is ready at (\S+)\.$|edge-eu, is not there: (.*)", seconds=JARS_SECONDS
        )
        if found[1] is None:
            if kafka_jars(edge_broker.RELEASE) is None:
                raise NotDone(found[2])
            raise StoryError(found[2])
        answer = self.people["ada"].api(f"/clusters/{company.EDGE}/")
        wanted = len(set(company.bindings(company.EDGE)))
        expect(answer["acls"] == wanted, f"It holds {wanted} ACLs, and the site says {answer}")
        return f"{wanted} ACLs at {found[1]}"

    def produces_after_a_change(self) -> str:
        before = self._produce()
        expect(before == "TopicAuthorizationFailedError", f"Before the change the client says {before}.")
        self.change = self._request(company.EDGE, ON_EDGE)
        outcome = self._approve_and_wait()
        after = self._produce()
        expect(after is None, f"After the change the client says {after}.")
        return f"{before}, then {outcome}, then taken"

    def undoes(self) -> str:
        answer = self._act("ada", "undo")
        self.change = self._change_at(answer)
        self._act("ada", "submit")
        outcome = self._approve_and_wait()
        after = self._produce()
        expect(after == "TopicAuthorizationFailedError", f"After the undo the client says {after}.")
        return f"{outcome}, then {after}"

    def _produce(self) -> str | None:
        users = json.loads((self.directory / "demo" / f"{company.EDGE}-users.json").read_text())
        bootstrap = self.product.wait_for(r"edge-eu, is ready at (\S+)\.$", seconds=1)[1]
        name = ON_EDGE.principal.removeprefix("User:")
        return edge_broker.send_one(
            bootstrap=bootstrap, username=name, password=users[name], topic=ON_EDGE.resource_name
        )

    def _request(self, cluster: str, binding: AclBinding) -> str:
        line = json.dumps({"op": "add"} | binding.as_dict())
        answer = self.people["ada"].send(
            f"/c/{cluster}/what-if/change/",
            page=f"/c/{cluster}/what-if/?" + urllib.parse.urlencode({"line": line}),
            line=line,
            title=f"{binding.principal} reaches {binding.resource_name}",
            reason="The story of ./run --check asks for it.",
        )
        return self._change_at(answer)

    def _change_at(self, answer: Answer) -> str:
        found = re.search(r"/changes/(CR-\d+)/", answer.address)
        if found is None:
            error = re.search(r'role="alert"[^>]*>(.*?)</', answer.text, re.DOTALL)
            said = re.sub(r"<[^>]+>", "", error[1]).strip() if error else "nothing"
            raise StoryError(f"No change came of it: {answer.status} at {answer.address}, saying {said}.")
        return found[1]

    def _act(self, name: str, step: str) -> Answer:
        page = f"/changes/{self.change}/"
        person = self.people[name]
        if 'class="decision-bar"' in person.get(page).text:
            return person.send(f"{page}act/", page=page, step=step)
        # Somebody to whom the page offers nothing tries all the same.
        return person.send(f"{page}act/", page="/clusters/", step=step)

    def _approve_and_wait(self) -> str:
        answer = self._act("ben", "approve")
        expect(answer.status == 200, f"The approval is answered with {answer.status}.")
        deadline = time.monotonic() + CHANGE_SECONDS
        while (state := self._state()) not in (
            "APPLIED",
            "PARTIAL",
            "FAILED",
            "BLOCKED_STALE",
            "QUARANTINED",
        ):
            expect(time.monotonic() < deadline, f"{self.change} is still {state} after {CHANGE_SECONDS} s.")
            time.sleep(0.3)
        change = self.people["ada"].api(f"/changes/{self.change}/")
        expect(state == "APPLIED", f"{self.change} is {state}: {change.get('sentence')}")
        return f"{self.change} in force"

    def _state(self) -> str:
        return str(self.people["ada"].api(f"/changes/{self.change}/")["state"])

    # --- Learning, proving, stopping ---

    def learns(self) -> str:
        deadline = time.monotonic() + INSIGHTS_SECONDS
        while True:
            page = self.people["ada"].get(f"/c/{company.PROD}/insights/")
            expect(page.status == 200, f"The page of insights answers {page.status}.")
            if found := re.search(r'Denials</span><span class="tile-number">([\d,]+)', page.text):
                return f"{found[1]} denials in the logs"
            expect(time.monotonic() < deadline, f"The page shows no sync after {INSIGHTS_SECONDS} s.")
            time.sleep(2)

    def audits(self) -> str:
        return self.product.manage("audit", "verify").splitlines()[-1]

    def stops(self) -> str:
        status = self.product.stop()
        expect(status == 0, f"It ended with exit status {status}.")
        return "exit status 0"

    def starts_again(self) -> str:
        began = time.monotonic()
        self.product = Product(self.directory, lite=self.lite)
        self.product.start()
        address = self.product.wait_for(r"ready at (http://\S+)", seconds=START_SECONDS)[1]
        took = time.monotonic() - began
        for name, browser in self.people.items():
            browser.address = address.rstrip("/")
            if name != "dot":
                browser.sign_in(self.passwords[name])
        if self.lite:
            expect(self._state() == "APPROVED", f"{self.change} is {self._state()}.")
        else:
            self._decide("ALLOWED")
            expect(self._state() == "APPLIED", f"{self.change} is {self._state()}.")
        return f"ready after {took:.1f} s"


class NotDone(Exception):
    """A step that this machine gives no means for; the message says what is missing."""


def expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise StoryError(otherwise)


def tell(story: Story, say: Callable[[str], None]) -> int:
    """Walk through the story and print each step; return 0 if every step held, else 1."""
    hang_on_the_broker = {story.produces_after_a_change, story.undoes}
    without_broker = ""
    try:
        for number, (title, step) in enumerate(story.steps(), start=1):
            if without_broker and step in hang_on_the_broker:
                say(f"not done  {number:2}. {title}: {without_broker}")
                continue
            began = time.monotonic()
            try:
                found = step()
            except NotDone as missing:
                without_broker = str(missing)
                say(f"not done  {number:2}. {title}: {missing}")
            except StoryError as error:
                say(f"FAILED    {number:2}. {title}: {error}")
                return 1
            else:
                say(f"ok        {number:2}. {title}: {found} ({time.monotonic() - began:.1f} s)")
    finally:
        story.product.kill()
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./run --check", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="said by ./run; changes nothing")
    parser.add_argument("--lite", action="store_true", help="without Java and Spark, on a file of ACLs")
    options = parser.parse_args(arguments)
    # Ended from outside, the story still stops what it started.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    directory = Path(tempfile.mkdtemp(prefix="aclweb-check-"))
    began = time.monotonic()
    status = tell(Story(directory / "data", lite=options.lite), say=lambda line: print(line, flush=True))
    took = f"{time.monotonic() - began:.0f} s"
    if status == 0:
        shutil.rmtree(directory, ignore_errors=True)
        print(f"The whole story passed, in {took}.")
    else:
        print(f"The story broke after {took}; its files, with the logs of every part, are in {directory}.")
    return status


if __name__ == "__main__":
    sys.exit(main())

"""Is every what-if within its budget through the doors that people and programs use?

The edits of `bench.effects`, each pasted into the what-if page (the form, and the page that it leads to), sent to
the API, and requested as a change (which is then asked for as a page and through the API), by a signed-in
person through the whole of Django, each door in a process of its own that has read the cluster. So the
parsing, the checks, the effect, what is stored and the rendering all count. Prints the CPU seconds, the
memory it took on top and the largest answer; ends with 1 if one is beyond the limits, answers an error, or
refuses an ordinary edit.

    python -m bench.doors [--acls 100000] [--topics 50000] [--only TEXT] [--doors page,api,change]
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from django.utils.html import strip_tags

from aclweb.acl.simulate import LISTS
from bench import effects, site, worlds
from bench.effects import CPU_SECONDS, MEGABYTES
from tests.acl.shapes import Shape, World, acl, shapes

ANSWER = 5 * 2**20
# What a page says instead of an effect.
_REFUSED = re.compile(
    r"(?:Not worked out|Left out of the draft|Not read|Not a topic|is too large to)[^<]{0,300}"
)
_TILE = re.compile(r'"tile-number">([0-9,]+)')


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--acls", type=int, default=100_000, help="ACLs of the large cluster")
    parser.add_argument("--topics", type=int, default=50_000)
    parser.add_argument("--only", default="", help="only edits whose title holds this text")
    parser.add_argument("--doors", default="page,api,change", help="which doors, with commas between")
    parser.add_argument("--small", action="store_true", help="only the cluster of 255 ACLs")
    parser.add_argument("--large", action="store_true", help="only the large cluster")
    asked = parser.parse_args()
    doors = [DOORS[name] for name in asked.doors.split(",")]
    wrong = worst = 0
    with tempfile.TemporaryDirectory(prefix="aclweb-bench-") as directory:
        _set_up(Path(directory))
        sizes = [] if asked.large else [("small", 255, 150)]
        sizes += [] if asked.small else [("large", asked.acls, asked.topics)]
        for slug, acls, topics in sizes:
            world = _cluster(slug, acls, topics)
            print(f"\n{len(world.acls):,} ACLs, {topics:,} topics\n", flush=True)
            for shape in shapes():
                if asked.only not in shape.title or shape.is_large or not _is_of(world, shape):
                    continue
                for door in doors:
                    found = effects.measured(partial(door, slug, world, shape))
                    told = faults(shape, found)
                    wrong += bool(told)
                    worst = max(worst, found.get("cpu", 0))
                    print(_line(door.__name__, shape, found, told), flush=True)
    print(
        f"\n{wrong} beyond the limits: {CPU_SECONDS:g} CPU s, {MEGABYTES} MB, {ANSWER >> 20} MB of answer. "
        f"The slowest took {worst:.1f} CPU s."
    )
    return 1 if wrong else 0


def _is_of(world: World, shape: Shape) -> bool:
    """Whether an edit asks of this cluster as it is, and not of other settings or more ACLs."""
    question = shape.question(world)
    return question.after_settings == question.settings and question.index is world.index


def page(slug: str, world: World, shape: Shape) -> Mapping[str, Any]:
    """Paste the edit into the page, and follow to where it leads."""
    asked = shape.question(world)
    delta, new_topics = asked.delta, asked.names.new_topics
    form = {"paste": _as_lines(delta), "new_topic": list(new_topics)}
    answers = [_browser().post(f"/c/{slug}/what-if/", form)]
    if answers[0].status_code == 302:
        answers.append(_browser().get(answers[0]["Location"]))
    return {**_told(answers), **_read(answers[-1])}


def api(slug: str, world: World, shape: Shape) -> Mapping[str, Any]:
    """Send the edit to the API."""
    asked = shape.question(world)
    delta, new_topics = asked.delta, asked.names.new_topics
    body = {
        "add": [binding.as_dict() for binding in delta.add],
        "remove": [binding.as_dict() for binding in delta.remove],
        "new_topics": list(new_topics),
    }
    answer = _browser().post(f"/api/v1/clusters/{slug}/what-if/", body, content_type="application/json")
    told = _told([answer])
    if answer.status_code == 400:
        told["refused"] = answer.content[:400].decode()
    elif answer.status_code == 200:
        told["differ"] = _differ(answer.json())
    return told


def change(slug: str, world: World, shape: Shape) -> Mapping[str, Any]:
    """Request the edit as a change; ask for the change as a page, and through the API."""
    delta = shape.question(world).delta
    if not delta.add and not delta.remove:
        return {"cpu": 0, "megabytes": 0, "answer": 0, "refused": "no ACL"}
    browser = _browser()
    answers = [browser.post(f"/c/{slug}/what-if/change/", {"paste": _as_lines(delta), "title": shape.title})]
    if answers[0].status_code == 302:
        address = answers[0]["Location"]
        answers += [browser.get(address), browser.get(f"/api/v1{address}")]
    told = _told(answers, fine=(200, 302, 422))
    if answers[0].status_code == 422:
        told |= _read(answers[0])
    elif len(answers) > 1:
        told["differ"] = _differ(answers[2].json()["impact"])
    return told


def _differ(impact: Mapping[str, Any]) -> int:
    return sum(impact["counts"][name] for name in LISTS)


DOORS: dict[str, Callable[[str, World, Shape], Mapping[str, Any]]] = {
    door.__name__: door for door in (page, api, change)
}


def faults(shape: Shape, found: Mapping[str, Any]) -> list[str]:
    """Return what is beyond the limits."""
    if "failed" in found:
        return [str(found["failed"])]
    told = []
    if found["cpu"] > CPU_SECONDS:
        told.append(f"{found['cpu']:.1f} CPU s")
    if found["megabytes"] > MEGABYTES:
        told.append(f"{found['megabytes']:.0f} MB")
    if found["answer"] > ANSWER:
        told.append(f"an answer of {found['answer'] / 2**20:.1f} MB")
    if "wrong" in found:
        told.append(found["wrong"])
    if "refused" in found and shape.ordinary and found["refused"] != "no ACL":
        told.append(f"an ordinary edit was refused: {found['refused'][:200]}")
    return told


def _told(answers: list[Any], fine: tuple[int, ...] = (200, 302, 400, 413)) -> dict[str, Any]:
    told: dict[str, Any] = {"answer": max(len(answer.content) for answer in answers)}
    if wrong := [answer.status_code for answer in answers if answer.status_code not in fine]:
        told["wrong"] = f"answered {wrong[0]}"
    return told


def _read(answer: Any) -> dict[str, Any]:
    """Return what a what-if page says: how many answers differ, or why it has none."""
    text = strip_tags(answer.content.decode())
    if (refused := _REFUSED.search(text)) is not None:
        return {"refused": " ".join(refused[0].split())}
    tiles = _TILE.findall(answer.content.decode())
    if not tiles:
        return {"wrong": "no effect and no reason"}
    return {"differ": sum(int(number.replace(",", "")) for number in tiles[:4])}


def _as_lines(delta: Any) -> str:
    from aclweb.web.drafts.draft import Line

    lines = [Line("add", binding) for binding in delta.add]
    lines += [Line("remove", binding) for binding in delta.remove]
    return "\n".join(line.as_text() for line in lines)


def _browser() -> Any:
    from django.test import Client

    from aclweb.accounts.models import User

    browser = Client()
    browser.force_login(User.objects.get(), backend="django.contrib.auth.backends.ModelBackend")
    return browser


def _set_up(directory: Path) -> None:
    site.set_up_django(directory)
    from django.core.management import call_command

    from aclweb.accounts.models import User

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    User.objects.create_superuser("bench", password="not used")


def _cluster(slug: str, acls: int, topics: int) -> World:
    """Store a cluster, ask one page of it so that this process has read it, and return what it holds."""
    from django.db import connections

    from aclweb.inventory.models import Cluster
    from aclweb.inventory.sync import sync
    from tests.fake_cluster import FakeCluster

    bindings, names = list(worlds.bindings(acls)), list(worlds.topic_names(topics))
    cluster = Cluster.objects.create(
        slug=slug,
        name=slug,
        kind="admin",
        address="127.0.0.1:1",
        super_users="User:admin",
        allow_everyone=False,
        changes_enabled=True,
    )
    with FakeCluster(bindings=bindings, topics=names) as fake:
        sync(cluster, client=fake)
    browser = _browser()
    line = acl(names[0], "User:warm")
    for text in ("", f'{{"op": "add", {str(line.as_dict())[1:-1]}}}'.replace("'", '"')):
        answer = browser.post(f"/c/{slug}/what-if/", {"paste": text}, follow=True)
        if answer.status_code != 200:
            raise SystemExit(
                f"The what-if page answered {answer.status_code}, so there is nothing to measure."
            )
    browser.get("/api/v1/clusters/")
    connections.close_all()
    return World.of(bindings, names)


def _line(door: str, shape: Shape, found: Mapping[str, Any], told: list[str]) -> str:
    if "failed" in found:
        return f"{door:>6} {shape.title}: FAILED {found['failed']}"
    what = "refused" if "refused" in found else f"{found.get('differ', 0):,} differ"
    sizes = f"{found['cpu']:5.2f} s {found['megabytes']:5.0f} MB {found['answer'] / 1024:7,.0f} KiB"
    return f"{door:>6} {sizes}  {shape.title}: {what}{' <-- ' + ', '.join(told) if told else ''}"


if __name__ == "__main__":
    sys.exit(main())

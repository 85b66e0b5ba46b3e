"""The measurements run, tell what they found, and the great ratios hold with much slack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aclweb.acl.authorizer.answers import Result
from aclweb.acl.authorizer.decision import decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching.glob import shape_of_glob
from aclweb.acl.matching.globset import GlobSet
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.pipeline.batch import Requests, decide_all
from bench import report, worlds
from bench.__main__ import PARTS, main
from bench.adversaries import contests
from bench.naive import Scan
from bench.report import Figure
from bench.timing import fastest

RULES = AuthorizerSettings()


@pytest.fixture(autouse=True)
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    return tmp_path


def test_a_run_is_kept_as_data_and_as_a_page(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quick", "pathological"]) == 0

    (data,) = results.glob("*.json")
    (page,) = results.glob("*.md")
    figures = json.loads(data.read_text())["figures"]
    assert all(figure["title"] in page.read_text() for figure in figures)
    assert len(capsys.readouterr().out.splitlines()) == len(figures) + 1


def test_a_part_that_does_not_exist_is_reported_with_those_that_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["speed"])

    told = capsys.readouterr().err
    assert "'speed'" in told
    assert all(part in told for part in PARTS)


def test_a_figure_tells_whether_its_goal_is_met() -> None:
    assert Figure("p", "t", 9.0, goal=10).verdict == "MISSED"
    assert Figure("p", "t", 10.0, goal=10).verdict == "met"
    assert Figure("p", "t", 11.0, goal=10, at_most=True).verdict == "MISSED"
    assert Figure("p", "t", 11.0).verdict == ""
    assert Figure("p", "t", 12_345.6, goal=10).line() == "p: t: 12,346 x (goal >= 10 x: met)."


def test_deciding_is_far_faster_than_looking_at_every_acl() -> None:
    bindings = list(worlds.bindings(20_000))
    index, scan = AclIndex(bindings), Scan(bindings)
    asked = worlds.near_questions(bindings, 500)
    few = asked[:15]
    for request in few:
        assert (decide(request, index, RULES)[0] is Result.ALLOWED) is scan.allows(request)

    slow, fast = fastest(
        lambda: [scan.allows(request) for request in few],
        lambda: [decide(request, index, RULES) for request in asked],
        rounds=3,
    )

    assert slow / len(few) > 30 * fast / len(asked)


def test_no_set_of_acls_is_made_to_be_slow() -> None:
    for contest in contests(0.005):
        times = []
        for make in (contest.hostile, contest.friendly):
            bindings, asked = make()
            index, scan = AclIndex(bindings), Scan(bindings)
            for request in asked[:3]:
                ranged = "/" in bindings[0].host
                assert ranged or (decide(request, index, RULES)[0] is Result.ALLOWED) is scan.allows(request)
            (best,) = fastest(
                lambda asked=asked, index=index: [  # type: ignore[misc]
                    decide(request, index, RULES) for request in asked
                ]
            )
            times.append(best / len(asked))
        assert times[0] < 100 * times[1], contest.title


def test_a_batch_is_faster_than_one_request_after_another() -> None:
    bindings = list(worlds.bindings(5_000))
    index = AclIndex(bindings)
    asked = worlds.traffic(bindings, 60_000, topics=4_000)
    columns = Requests.of(asked)

    loop, batch = fastest(
        lambda: [decide(request, index, RULES) for request in asked],
        lambda: decide_all(columns, index, RULES),
        rounds=3,
    )

    assert loop > 2 * batch


def test_a_set_of_globs_is_faster_than_trying_each() -> None:
    texts = worlds.globs(1_500)
    shapes = [shape_of_glob(text) for text in texts]
    globs = GlobSet(shapes)
    names = worlds.topic_names(40)

    each, together = fastest(
        lambda: [[n for n, shape in enumerate(shapes) if shape.matches(name)] for name in names],
        lambda: [globs.matching(name) for name in names],
        rounds=3,
    )

    assert each > 4 * together

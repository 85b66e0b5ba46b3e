"""How much work is a what-if of each shape, how many groups does it find, and how large is what is stored?

Work is counted, never timed: the steps and differences that the engine counts against its budget, and the
calls of functions that Python makes. Figures are kept beside the tests, so that twice the work is noticed:

    python -m tests.acl.shape_figures            # measure again and keep; says what is new
    python -m tests.acl.shape_figures --large    # the same on 100,000 ACLs: an hour
"""

from __future__ import annotations

import argparse
import cProfile
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from unittest.mock import patch

from aclweb.acl.simulate import ON_A_SITE, Budget, Impact, TooCostly, packed, simulate, trimmed
from aclweb.acl.simulate.budget import Meter
from bench import worlds
from tests.acl.shapes import Question, World, shapes

KEPT = Path(__file__).parent.parent / "data" / "shapes.json"
TIMES = 1.5
"""A figure may be so many times the one that is kept; half of what it takes to be twice as much."""

SMALL, LARGE = "255 ACLs", "100,000 ACLs"
_SLACK = {"steps": 100, "differences": 20, "calls": 3_000, "groups": 5, "stored": 500}


@dataclass(frozen=True)
class Figures:
    """What one what-if took and gave. calls: made up to its end, or until it was refused. cells: that differ."""

    refused: bool
    steps: int
    differences: int
    calls: int
    groups: int = 0
    cells: int = 0
    stored: int = 0


def cluster(title: str) -> World:
    """Return one of the two clusters."""
    if title == SMALL:
        return World.of(worlds.bindings(255), worlds.topic_names(150))
    return World.of(worlds.bindings(100_000), worlds.topic_names(50_000))


def measured(question: Question, budget: Budget | None = ON_A_SITE) -> tuple[Figures, str]:
    """Return what a what-if takes and gives, and the sentence where it is refused.

    The index of the cluster is ready, as it is on a site.
    """
    with _counted() as (spent, profile):
        try:
            impact = simulate(
                question.delta,
                question.index,
                question.names,
                question.settings,
                question.after_settings,
                merge_equal_hosts=True,
                met_only=True,
                budget=budget,
            )
        except TooCostly as error:
            impact, sentence = None, str(error)
    calls = sum(entry.callcount for entry in profile.getstats())
    if impact is None:
        return Figures(True, spent[0], spent[1], calls), sentence
    cells = sum(map(impact.cells_in, impact.groups))
    return Figures(False, spent[0], spent[1], calls, len(impact.groups), cells, stored_bytes(impact)), ""


def stored_bytes(impact: Impact) -> int:
    """Return how many bytes a change stores."""
    return len(packed(trimmed(impact)))


@contextmanager
def _counted() -> Iterator[tuple[list[int], cProfile.Profile]]:
    """Count what the engine spends, and the calls that are made."""
    spent, profile = [0, 0], cProfile.Profile(subcalls=False)
    spend = Meter.spend

    def noted(self: Meter, steps: int, differences: int = 0) -> None:
        spent[0] += steps
        spent[1] += differences
        spend(self, steps, differences)

    with patch.object(Meter, "spend", noted), profile:
        yield spent, profile


def kept(title: str) -> Mapping[str, Figures]:
    """Return the figures that are kept of a cluster, by the title of the shape."""
    told = json.loads(KEPT.read_text()).get(title, {})
    return {shape: Figures(**figures) for shape, figures in told.items()}


def excess(found: Figures, before: Figures) -> Iterator[str]:
    """Yield what is more than it may be. A refusal may turn into an answer, but not the reverse."""
    if found.refused and not before.refused:
        yield "refused"
    for name, slack in _SLACK.items():
        own, most = getattr(found, name), TIMES * getattr(before, name) + slack
        if own > most and found.refused == before.refused:
            yield f"{name}: {own:,}, and {getattr(before, name):,} before"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="of the large cluster, and of large shapes")
    asked = parser.parse_args()
    title = LARGE if asked.large else SMALL
    told = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    before = kept(title) if told else {}
    world = cluster(title)
    whole = [shape for shape in shapes() if asked.large or not shape.is_large]
    every = whole if asked.large else [*(shape.briefly for shape in shapes()), *whole]
    own: dict[str, dict[str, int]] = {}
    for shape in every:
        if shape.title in own:
            continue
        found, _ = measured(shape.question(world))
        own[shape.title] = asdict(found)
        news = list(excess(found, before[shape.title])) if shape.title in before else ["new"]
        print(f"{shape.title}: {found} {', '.join(news)}".rstrip(), flush=True)
    told[title] = own
    KEPT.write_text(json.dumps(told, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

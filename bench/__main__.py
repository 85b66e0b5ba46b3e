"""How fast is aclweb, beside a strong baseline in the same run?

    python -m bench [--quick] [PART ...]

Each part makes its data, compares answers with those of its baseline, and prints ratios. The
whole run is kept under bench/results/ as JSON and as a page to read. Nothing is asserted but
that answers are equal. --quick takes small data and under two minutes; parts are named below.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Iterator, Sequence

from bench import batches, building, decisions, groups, patterns, pipeline, whatif
from bench.report import Figure, write

PARTS: dict[str, Callable[[bool], Iterator[Figure]]] = {
    "scan": decisions.against_a_scan,
    "kafka": decisions.against_kafka,
    "kafka-data": decisions.against_kafka_on_its_data,
    "adversarial": decisions.at_their_worst,
    "build": building.against_kafka,
    "rebuild": building.while_rebuilding,
    "batch": batches.against_the_loop,
    "matrix": batches.matrix_against_cells,
    "names": patterns.against_all_names,
    "whatif": whatif.against_every_cell,
    "groups": groups.beside_cell_by_cell,
    "globs": patterns.many_against_a_name,
    "pathological": patterns.at_their_worst,
    "pipeline": pipeline.against_plain_python,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"one or more of {', '.join(PARTS)}; else all"
    )
    parser.add_argument("--quick", action="store_true", help="small data, under two minutes")
    parser.add_argument("--print-only", action="store_true", help="leave bench/results as it is")
    asked = parser.parse_args(arguments)
    for part in asked.parts:
        if part not in PARTS:
            parser.error(f"{part!r} is no part; use one or more of {', '.join(PARTS)}.")
    begun = time.perf_counter()
    figures: list[Figure] = []
    for part in asked.parts or PARTS:
        for figure in PARTS[part](asked.quick):
            figures.append(figure)
            print(figure.line(), flush=True)
        gc.collect()
        if not asked.print_only:
            # After each part, so that a run that is ended leaves what it has found.
            page = write(figures, quick=asked.quick, seconds=time.perf_counter() - begun)
    if not asked.print_only:
        print(f"Kept in {page}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

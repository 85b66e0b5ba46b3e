"""How is it said what one cluster uses and another does not?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aclweb.acl.model import number_of


def pair_sentence(pair: Mapping[str, Any], here: str, there: str, word: str) -> str:
    """Return `eu uses 9 rights; us does not use 3 of them, and its ACLs allow 1 of these.`

    pair: of the manifest of the job `compare`, with the numbers `used`, `rows`, `allowed` and `unknown`. here, there:
    what the cluster that uses and the other are called. word: what is counted.
    """
    if not pair["used"]:
        return f"{here} uses no {word}."
    rest = _of_one(pair, there) if pair["used"] == 1 else _of_many(pair, there)
    return f"{here} uses {number_of(pair['used'], word)}; {rest}"


def _of_one(pair: Mapping[str, Any], there: str) -> str:
    if pair["rows"]:
        return f"{there} does not, and its ACLs {'allow it' if pair['allowed'] else 'do not allow it'}."
    return f"nobody can tell whether {there} does." if pair["unknown"] else f"{there} does too."


def _of_many(pair: Mapping[str, Any], there: str) -> str:
    rows, unknown = pair["rows"], pair["unknown"]
    if unknown == pair["used"]:
        return f"nobody can tell which of them {there} uses."
    if not rows:
        return (
            f"of {unknown:,} nobody can tell whether {there} does."
            if unknown
            else f"{there} uses all of them."
        )
    told = f"{there} uses none of them" if rows == pair["used"] else f"{there} does not use {rows:,} of them"
    allowed = f"{pair['allowed']:,}" if pair["allowed"] else "none"
    told += f", and its ACLs allow {allowed} of these."
    return f"{told} Of {unknown:,} nobody can tell." if unknown else told

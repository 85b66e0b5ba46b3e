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
    told = f"{here} uses {number_of(pair['used'], word)}; "
    if pair["rows"]:
        allowed = f"{pair['allowed']:,}" if pair["allowed"] else "none"
        told += f"{there} does not use {pair['rows']:,} of them, and its ACLs allow {allowed} of these."
        return f"{told} Of {pair['unknown']:,} nobody can tell." if pair["unknown"] else told
    if pair["unknown"]:
        return f"{told}of {pair['unknown']:,} of them nobody can tell whether {there} does."
    return f"{told}{there} uses {'it too' if pair['used'] == 1 else 'all of them'}."

"""What does each row of a file about principals say beside its own columns?

What people call the principal, and what a managed service decides beside the ACLs. Neither column is there where nobody
gave a name on the cluster, or no service runs it that hides anything.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aclweb.acl.authorizer import beyond_acls
from aclweb.inventory import lists
from aclweb.inventory.current import settings_of
from aclweb.inventory.models import Cluster

NAME, CAVEATS = "principal_name", "caveats"


@dataclass(frozen=True)
class BesideRows:
    """The names of principals, and what services that run the clusters decide, as sentences."""

    names: Mapping[str, str]
    caveats: tuple[str, ...]

    @classmethod
    def of(cls, *clusters: Cluster) -> BesideRows:
        """Return what belongs beside rows about these; the first that names a principal has the word."""
        names = ChainMap(*(dict(lists.principals_called(each)) for each in clusters))
        said = (sentence for each in clusters for sentence in beyond_acls(settings_of(each)))
        return cls(names, tuple(dict.fromkeys(said)))

    def columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of a file of rows with these."""
        own = {"principal", "principals"} & set(columns)
        return (*columns, *((NAME,) if self.names and own else ()), *((CAVEATS,) if self.caveats else ()))

    def row(self, row: Mapping[str, Any], principals: Iterable[str] | None = None) -> dict[str, Any]:
        """Return a row with what belongs beside it; principals: as `named` has them."""
        return self.named(row, principals) | ({CAVEATS: " ".join(self.caveats)} if self.caveats else {})

    def named(self, row: Mapping[str, Any], principals: Iterable[str] | None = None) -> dict[str, Any]:
        """Return a row with what people call its principal.

        principals: those that it is about, where they are several; else that of its column `principal`, if it has one.
        """
        if self.names and principals is not None:
            return {**row, NAME: names_told(self.names, principals)}
        if self.names and "principal" in row:
            return {**row, NAME: self.names.get(row["principal"], "")}
        return dict(row)


def names_told(names: Mapping[str, str], principals: Iterable[str]) -> str:
    """Return what people call these principals, such as `User:1 is Billing; User:2 is Ops`; of others nothing."""
    return "; ".join(f"{principal} is {names[principal]}" for principal in principals if principal in names)

"""Lint rule locks-out-administrators: a denial on the cluster for everybody."""

from __future__ import annotations

from collections.abc import Mapping

from aclweb.acl.lint.claims import Claim
from aclweb.acl.lint.rule import WARNING, About, Broken, Example, LintRule, deny
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import ANY_USER, WILDCARD, AuthorizerSettings, Operation

_ADMINISTERING: Mapping[Operation, str] = {
    Operation.ALL: "administer the cluster, and brokers work together only as super users",
    Operation.ALTER: "change ACLs",
    Operation.CLUSTER_ACTION: "work together as brokers",
}


def check(acl: Subject) -> tuple[Broken, ...]:
    binding = acl.binding
    what = _ADMINISTERING.get(binding.operation)
    is_everybody = binding.principal == ANY_USER and binding.host == WILDCARD
    if what is None or not (acl.is_deny and is_everybody and acl.is_about_the_cluster):
        return ()
    return (Broken(acl.sentence(f"from then on only super users {what}.")),)


RULE = LintRule(
    id="locks-out-administrators",
    severity=WARNING,
    title="A denial on the cluster for everybody",
    claims=Claim.LEAVES_SUPER_USERS_ONLY,
    why=(
        "Who changes ACLs needs Alter on the cluster, and brokers that work together need ClusterAction. "
        "A DENY of either for `User:*` beats every ALLOW, so that only super users are left."
    ),
    instead="Deny it to the principals that are meant; whoever has no ALLOW is refused anyway.",
    bad=(
        Example(deny("User:*", "ALTER", "kafka-cluster", kind="CLUSTER")),
        Example(deny("User:*", "ALL", "kafka-cluster", kind="CLUSTER"), AuthorizerSettings("acl")),
    ),
    good=(
        Example(deny("User:bob", "ALTER", "kafka-cluster", kind="CLUSTER")),
        Example(deny("User:*", "CREATE", "kafka-cluster", kind="CLUSTER")),
    ),
    alone={About.OPERATION: check},
    rank=1,
)

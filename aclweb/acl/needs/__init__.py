"""Which access does a client action need, and would it work?

Import from here: client actions and protocol calls, `assess` of an action, and its JSON form.
"""

from aclweb.acl.needs.actions import ACTIONS
from aclweb.acl.needs.answers import assess, find_action, missing_roles, needed_acls
from aclweb.acl.needs.any_host import HostsAssessed, PartAssessed, assess_for_any_host, without_missing
from aclweb.acl.needs.as_json import assessed_as_dict, hosts_assessed_as_dict, needed_as_dict
from aclweb.acl.needs.asked_for import calls_asking_for
from aclweb.acl.needs.assessment import (
    Asked,
    Assessment,
    DecidedCall,
    Outcome,
    call_text,
    right_text,
    target_text,
)
from aclweb.acl.needs.calls import Api, Case, Check, Refusal, Right, checks_of
from aclweb.acl.needs.errors import ERRORS, Error
from aclweb.acl.needs.following import asked_next
from aclweb.acl.needs.one_sentence import summary, summary_of_hosts
from aclweb.acl.needs.protocol import APIS
from aclweb.acl.needs.roles import GIVEN_ROLES, Call, ClientAction, Names, Role, calls_under

__all__ = [
    "ACTIONS",
    "APIS",
    "ERRORS",
    "GIVEN_ROLES",
    "Api",
    "Asked",
    "Assessment",
    "Call",
    "Case",
    "Check",
    "ClientAction",
    "DecidedCall",
    "Error",
    "HostsAssessed",
    "Names",
    "Outcome",
    "PartAssessed",
    "Refusal",
    "Right",
    "Role",
    "asked_next",
    "assess",
    "assess_for_any_host",
    "assessed_as_dict",
    "call_text",
    "calls_asking_for",
    "calls_under",
    "checks_of",
    "find_action",
    "hosts_assessed_as_dict",
    "missing_roles",
    "needed_acls",
    "needed_as_dict",
    "right_text",
    "summary",
    "summary_of_hosts",
    "target_text",
    "without_missing",
]

"""Which sentence says that brokers cannot be reached, refuse, or give no usable answer?

Kafka's own error texts are internal dumps, so none is shown: every code that a person can meet has a sentence.
"""

from __future__ import annotations

from aclweb.acl.model import shown
from aclweb.clusters.admin_api.kafka_python import ConnectFailures
from aclweb.clusters.admin_api.messages import (
    CLUSTER_AUTHORIZATION_FAILED,
    ILLEGAL_SASL_STATE,
    NONE,
    SASL_AUTHENTICATION_FAILED,
    SECURITY_DISABLED,
    UNSUPPORTED_SASL_MECHANISM,
)
from aclweb.clusters.client import ClusterError, ClusterState
from aclweb.clusters.connection import ClientOptions, pem, tokens


def client_name(options: ClientOptions) -> str:
    """Return who this client is, as the beginning of a sentence."""
    if options.credentials:
        return f"The client {shown(options.credentials.client_id)}"
    if options.kerberos:
        return f"The principal {options.kerberos.principal}"
    if options.username:
        return f"The user {shown(options.username)}"
    own = options.certificate_pem
    subject = pem.subject_of(own) if own else None
    if subject:
        return (
            f"The client with the certificate of {subject} (User:{subject} unless the brokers map its name)"
        )
    return "A client without a login"


def require_success(code: int, doing: str, where: str, options: ClientOptions, *, needed: str) -> None:
    """Raise ClusterError for every code but NONE. doing: such as `list the ACLs`; needed: the operation for it."""
    if code == NONE:
        return
    if code == SECURITY_DISABLED:
        raise ClusterError(
            f"The cluster at {where} has no authorizer (code 54): it keeps no ACLs and lets everybody do "
            "everything. Set authorizer.class.name on its brokers to change that.",
            state=ClusterState.NO_AUTHORIZER,
        )
    if code == CLUSTER_AUTHORIZATION_FAILED:
        raise ClusterError(
            f"{client_name(options)} may not {doing} of the cluster at {where}; that needs {needed} on the cluster.",
            state=ClusterState.NOT_PERMITTED,
        )
    raise ClusterError(
        f"The Kafka brokers at {where} did not {doing} (code {code}).",
        state=ClusterState.UNREACHABLE,
    )


def stopped(what: str, error: BaseException, where: str) -> ClusterError:
    return ClusterError(
        f"{where} stopped answering when asked for {what} ({type(error).__name__.strip('_')}); check that it runs, "
        "and that the address it advertises can be reached from here.",
        state=ClusterState.UNREACHABLE,
    )


def not_understood(what: str, where: str) -> ClusterError:
    return ClusterError(
        f"What the Kafka brokers at {where} answered about {what} cannot be understood; check that this is "
        "the address of Kafka brokers.",
        state=ClusterState.UNREADABLE,
    )


def login_refused(where: str, options: ClientOptions) -> ClusterError:
    asked = options.credentials
    if asked is not None:
        tokens.forget(asked)
        return ClusterError(
            f"The Kafka brokers at {where} refused the token that {asked.endpoint} gave {shown(asked.client_id)}; "
            "check issuer, audience and scope, and that they trust its keys (sasl.oauthbearer.jwks.endpoint.url).",
            state=ClusterState.LOGIN_REFUSED,
        )
    if options.kerberos is not None:
        return ClusterError(
            f"The Kafka brokers at {where} refused the Kerberos login of {options.kerberos.principal}; check "
            "sasl.kerberos.service.name, the clocks, and sasl.kerberos.principal.to.local.rules of the brokers.",
            state=ClusterState.LOGIN_REFUSED,
        )
    return ClusterError(
        f"The Kafka brokers at {where} refused the login of {shown(options.username)} with "
        f"{options.mechanism}; check sasl.username, sasl.password and sasl.mechanism.",
        state=ClusterState.LOGIN_REFUSED,
    )


def not_connected(
    failures: ConnectFailures, error: Exception, where: str, options: ClientOptions, timeout_seconds: float
) -> ClusterError:
    """Return what went wrong at connecting: the most telling of the causes that the library only logs."""
    causes = [*failures.causes, error]
    codes = {getattr(cause, "errno", None) for cause in causes}
    texts = " ".join(str(cause) for cause in causes)
    protocol = options.protocol
    if SASL_AUTHENTICATION_FAILED in codes:
        return login_refused(where, options)
    if UNSUPPORTED_SASL_MECHANISM in codes:
        return ClusterError(
            f"The Kafka brokers at {where} do not offer {options.mechanism}; "
            "set sasl.mechanism to one that they have enabled.",
            state=ClusterState.LOGIN_REFUSED,
        )
    if ILLEGAL_SASL_STATE in codes:
        return ClusterError(
            f"The port at {where} takes no logins, and security.protocol is {protocol}; give the brokers' "
            "SASL port, or set security.protocol to what this port speaks.",
            state=ClusterState.LOGIN_REFUSED,
        )
    if "CERTIFICATE_VERIFY_FAILED" in texts:
        return ClusterError(
            f"The certificate of the Kafka brokers at {where} is not to be trusted; give the certificate of "
            "its authority as ssl.ca.pem, and check that the certificate names this host.",
            state=ClusterState.UNREACHABLE,
        )
    if "Handshake failed" in texts:
        return ClusterError(
            f"The port at {where} does not speak TLS as security.protocol {protocol} expects; check the "
            "port and security.protocol.",
            state=ClusterState.UNREACHABLE,
        )
    if failures.metadata_refused and not options.uses_sasl:
        return ClusterError(
            f"The Kafka brokers at {where} ask for a login, and security.protocol is {protocol}; set it to "
            f"SASL_{protocol} and give a user name and a password.",
            state=ClusterState.LOGIN_REFUSED,
        )
    if "DNS" in texts:
        return ClusterError(
            f"The name in the address {where} is not known to this machine's name service; check it.",
            state=ClusterState.UNREACHABLE,
        )
    if failures.metadata_refused or "disconnected" in texts:
        return ClusterError(
            f"Something at {where} accepts connections and closes them without an answer; it is probably "
            f"a port that expects another security.protocol than {protocol}.",
            state=ClusterState.UNREACHABLE,
        )
    return ClusterError(
        f"No Kafka broker answers at {where} within {timeout_seconds:g} s; check the address and whether the "
        "brokers run.",
        state=ClusterState.UNREACHABLE,
    )

"""Only settings that are known to be harmless reach a client; everything else is refused by name."""

from __future__ import annotations

import re

import pytest

from aclweb.clusters import KINDS, ClusterError, ClusterState, Connection
from aclweb.clusters.admin_api import ADMIN_API
from aclweb.clusters.connection.kerberos import KerberosLogin, Ticket
from aclweb.clusters.connection.options import check_options, option_faults
from aclweb.clusters.snapshot import SNAPSHOT
from aclweb.clusters.zookeeper import ZOOKEEPER

LOGIN = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "aclweb",
    "sasl.password": "s3cret",
}
PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

# From the documentation of the Java client and of librdkafka: run a program, load code, read a file, ask an
# address, weaken a check, or belong elsewhere.
PASTED = [
    "bootstrap.servers",
    "builtin.features",
    "client.dns.lookup",
    "debug",
    "enable.sasl.oauthbearer.unsecure.jwt",
    "enable.ssl.certificate.verification",
    "interceptor.classes",
    "key.serializer",
    "metadata.broker.list",
    "metric.reporters",
    "plugin.library.paths",
    "sasl.client.callback.handler.class",
    "sasl.jaas.config",
    "sasl.kerberos.kinit.cmd",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.mechanisms",
    "sasl.oauthbearer.jwks.endpoint.url",
    "sasl.oauthbearer.jwt.retriever.class",
    "security.providers",
    "socket.timeout.ms",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.crl.location",
    "ssl.engine.factory.class",
    "ssl.engine.location",
    "ssl.key.location",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.providers",
    "ssl.truststore.location",
    "SASL.Password",
    "sasl.password ",
    "ssl_cafile",
    "sasl_plain_password",
    "zookeeper.connect",
]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("name", PASTED)
def test_a_pasted_setting_is_refused_by_name_with_what_to_do_instead(kind, name):
    with pytest.raises(ClusterError) as caught:
        check_options(kind, {name: "value"})

    assert str(caught.value).startswith(f"Setting {name.strip()!r} is refused: ")


def test_of_very_many_unknown_settings_the_first_are_refused_by_name():
    faults = option_faults(ADMIN_API, {f"k{number}": "" for number in range(20_000)})

    assert len(faults) == 21
    assert faults[19].sentence.startswith("Setting 'k19' is refused: ")
    assert faults[20].sentence == "19,980 more settings are refused."


KERBEROS = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "GSSAPI",
    "sasl.kerberos.keytab": "/etc/aclweb/kafka.keytab",
    "sasl.kerberos.principal": "aclweb/web-1@EXAMPLE.COM",
}


def test_a_kerberos_login_is_read_and_its_service_is_kafka_unless_given():
    usual = check_options(ADMIN_API, KERBEROS).kerberos
    other = check_options(ADMIN_API, KERBEROS | {"sasl.kerberos.service.name": "kaffee"}).kerberos

    assert usual == KerberosLogin("/etc/aclweb/kafka.keytab", "aclweb/web-1@EXAMPLE.COM", "kafka")
    assert (other and other.service) == "kaffee"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"sasl.kerberos.keytab": ""}, "With sasl.mechanism GSSAPI, sasl.kerberos.keytab is missing."),
        ({"sasl.kerberos.principal": ""}, "With sasl.mechanism GSSAPI, sasl.kerberos.principal is missing."),
        ({"sasl.kerberos.principal": "aclweb"}, "sasl.kerberos.principal is no principal with its realm"),
        ({"sasl.kerberos.principal": "a b@X"}, "sasl.kerberos.principal is no principal with its realm"),
        ({"sasl.kerberos.principal": f"{'a' * 9999}@X"}, "is no principal with its realm"),
        ({"sasl.kerberos.service.name": "kafka@x"}, "sasl.kerberos.service.name is no name of a service"),
        ({"sasl.password": "x"}, "Setting sasl.password has no effect with sasl.mechanism GSSAPI"),
        ({"sasl.mechanism": "PLAIN"}, "Setting sasl.kerberos.keytab has no effect with sasl.mechanism PLAIN"),
        ({"sasl.kerberos.kinit.cmd": "rm"}, "of Kerberos logins aclweb knows sasl.kerberos.service.name"),
    ],
)
def test_each_fault_of_a_kerberos_login_has_its_sentence(given, sentence):
    with pytest.raises(ClusterError, match=re.escape(sentence)):
        check_options(ADMIN_API, KERBEROS | given)


@pytest.mark.parametrize(
    "asked", ["/etc/krb5.keytab", "/etc/aclweb/kafka.keytab/", "/etc/aclweb/../aclweb/kafka.keytab"]
)
def test_a_keytab_is_one_that_the_deployment_lists_letter_by_letter(asked):
    listed = ("/etc/aclweb/kafka.keytab",)

    assert option_faults(ADMIN_API, KERBEROS, (), listed) == ()
    (fault,) = option_faults(ADMIN_API, KERBEROS | {"sasl.kerberos.keytab": asked}, (), listed)

    assert fault.setting == "sasl.kerberos.keytab"
    assert "is not allowed; this site may use /etc/aclweb/kafka.keytab." in fault.sentence


def test_where_kerberos_is_not_installed_the_login_says_what_is_missing(monkeypatch):
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("aclweb.clusters.connection.kerberos.import_module", absent)

    with pytest.raises(
        ClusterError, match="need the Python package gssapi and Kerberos' own library"
    ) as caught:
        Ticket(KerberosLogin("/etc/aclweb/kafka.keytab", "aclweb@EXAMPLE.COM"))

    assert caught.value.state is ClusterState.LOGIN_REFUSED


def test_zookeeper_is_not_logged_in_to_by_kerberos():
    with pytest.raises(ClusterError, match="aclweb does not log in to ZooKeeper by Kerberos"):
        check_options(ZOOKEEPER, {"sasl.kerberos.keytab": "/etc/aclweb.keytab"})


@pytest.mark.parametrize("name", PASTED)
def test_the_value_of_a_refused_setting_is_not_repeated(name):
    with pytest.raises(ClusterError) as caught:
        check_options(ADMIN_API, {name: "s3cret-value"})

    assert "s3cret-value" not in str(caught.value)


def test_every_fault_is_reported_at_once():
    with pytest.raises(ClusterError) as caught:
        check_options(ADMIN_API, {"debug": "all", "plugin.library.paths": "x.so", "security.protocol": "TLS"})

    assert all(word in str(caught.value) for word in ("'debug'", "'plugin.library.paths'", "'TLS'"))


def test_a_login_is_read_and_its_password_stays_out_of_repr():
    options = check_options(ADMIN_API, LOGIN)

    assert (options.protocol, options.mechanism, options.username, options.password) == tuple(LOGIN.values())
    assert options.uses_tls
    assert options.uses_sasl
    assert "s3cret" not in repr(options)
    assert "s3cret" not in repr(Connection(ADMIN_API, "a:1", LOGIN))


@pytest.mark.parametrize("missing", ["sasl.mechanism", "sasl.username", "sasl.password"])
def test_a_login_with_a_part_missing_names_the_part(missing):
    given = {name: value for name, value in LOGIN.items() if name != missing}

    with pytest.raises(ClusterError, match=f"{missing} is missing"):
        check_options(ADMIN_API, given)


@pytest.mark.parametrize(
    ("kind", "mechanism"),
    [
        (ADMIN_API, "AWS_MSK_IAM"),
        (ZOOKEEPER, "OAUTHBEARER"),
        (ADMIN_API, "plain"),
        (ZOOKEEPER, "PLAIN"),
        (ZOOKEEPER, "GSSAPI"),
    ],
)
def test_a_mechanism_that_is_not_offered_is_named(kind, mechanism):
    with pytest.raises(ClusterError, match=f"'{mechanism}' is not offered"):
        check_options(kind, LOGIN | {"sasl.mechanism": mechanism})


@pytest.mark.parametrize("odd", ["a\nssl.engine.location=x", "a\0b", "a\rb"])
@pytest.mark.parametrize("name", ["sasl.username", "sasl.password", "client.id"])
def test_a_value_never_becomes_a_second_setting(name, odd):
    with pytest.raises(ClusterError, match=f"Setting {name} holds a line break or a NUL"):
        check_options(ADMIN_API, LOGIN | {name: odd})


@pytest.mark.parametrize("value", ["a=b", "a,b", "a b", "ä", '";'])
def test_other_letters_of_a_password_are_kept_as_they_are(value):
    assert check_options(ADMIN_API, LOGIN | {"sasl.password": value}).password == value


@pytest.mark.parametrize("value", ["", " ", "none", "http"])
def test_the_check_of_host_names_cannot_be_switched_off(value):
    given = LOGIN | {"ssl.endpoint.identification.algorithm": value}

    if value == "":
        assert check_options(ADMIN_API, given).uses_tls  # as if it were not given: the check stays on
        return
    with pytest.raises(ClusterError, match="can only be https"):
        check_options(ADMIN_API, given)


@pytest.mark.parametrize("name", ["ssl.ca.pem", "ssl.certificate.pem", "ssl.key.pem"])
def test_a_file_name_is_no_certificate(name):
    with pytest.raises(ClusterError, match=f"{name} is not PEM text"):
        check_options(ADMIN_API, LOGIN | {name: "/etc/ssl/private/key.pem"})


def test_a_certificate_without_its_key_is_reported():
    with pytest.raises(ClusterError, match="belong together"):
        check_options(ADMIN_API, LOGIN | {"ssl.certificate.pem": PEM})


@pytest.mark.parametrize(
    ("protocol", "name"),
    [("PLAINTEXT", "sasl.username"), ("SSL", "sasl.password"), ("SASL_PLAINTEXT", "ssl.ca.pem")],
)
def test_a_setting_that_its_protocol_would_ignore_is_reported(protocol, name):
    given = {"security.protocol": protocol, name: PEM if name.endswith("pem") else "x"}

    with pytest.raises(ClusterError, match=f"Setting {name} has no effect"):
        check_options(ADMIN_API, given)


@pytest.mark.parametrize("value", ["0", "999", "600001", "1e4", "-5", "ten", "٣٠٠٠"])
def test_a_timeout_that_is_none_is_reported_with_its_bounds(value):
    with pytest.raises(ClusterError, match="from 1000 to 600000"):
        check_options(ADMIN_API, {"request.timeout.ms": value})


def test_a_file_takes_no_settings():
    with pytest.raises(ClusterError, match="a cluster read from a file has no settings"):
        check_options(SNAPSHOT, {"sasl.username": "x"})

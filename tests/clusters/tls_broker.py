"""A real broker with an own CA, at a port for logins over TLS and at one for client certificates."""

from __future__ import annotations

from aclweb.clusters import Connection
from aclweb.clusters.admin_api import ADMIN_API
from devstack.servers import KafkaBroker
from tests.clusters.certificates import Authority
from tests.servers_data import free_port

CA = Authority("Example CA")
OWN = CA.issue("O=Example", "OU=Platform", "CN=aclweb")
SUBJECT = "CN=aclweb,OU=Platform,O=Example"
UNKNOWN = "broker1.kafka.svc.invalid:9092"


class TlsBroker(KafkaBroker):
    """A broker with two more ports, SASL_SSL and SSL with client certificates, and no declared default mode."""

    sasl_ssl = mutual = ""

    def by_login_over_tls(self) -> Connection:
        """Return how its super user logs in at the port SASL_SSL."""
        options = self.connection().options
        tls = {"security.protocol": "SASL_SSL", "ssl.ca.pem": CA.pem}
        return Connection(ADMIN_API, self.sasl_ssl, {**options, **tls}, 30.0)

    def by_certificate(self) -> Connection:
        """Return how a client with the certificate of SUBJECT connects at the port SSL."""
        certificate, key = OWN
        options = {
            "security.protocol": "SSL",
            "ssl.ca.pem": CA.pem,
            "ssl.certificate.pem": certificate,
            "ssl.key.pem": key,
        }
        return Connection(ADMIN_API, self.mutual, options, 30.0)

    def _kraft_properties(self, controller: int) -> dict[str, str | None]:
        self.sasl_ssl, self.mutual = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        certificate, key = CA.issue("CN=broker", server=True)
        (self.directory / "server.pem").write_text(key + certificate)
        (self.directory / "ca.pem").write_text(CA.pem)
        lines = super()._kraft_properties(controller)
        ports = f",TLS://{self.sasl_ssl},MUTUAL://{self.mutual}"
        lines["listeners"] = f"{lines['listeners']}{ports}"
        lines["listener.security.protocol.map"] = (
            f"{lines['listener.security.protocol.map']},TLS:SASL_SSL,MUTUAL:SSL"
        )
        # What clusters in containers get wrong most often: an address that only other containers know.
        advertised = f"{lines['listeners']}".replace(f"127.0.0.1:{self._plain_port}", UNKNOWN)
        lines["advertised.listeners"] = ",".join(
            each for each in advertised.split(",") if not each.startswith("CONTROLLER")
        )
        stores = {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": f"{self.directory}/server.pem",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": f"{self.directory}/ca.pem",
        }
        for name in ("tls", "mutual"):
            lines |= {f"listener.name.{name}.{key}": value for key, value in stores.items()}
        lines["listener.name.mutual.ssl.client.auth"] = "required"
        lines["listener.name.tls.plain.sasl.jaas.config"] = self._jaas()
        return lines

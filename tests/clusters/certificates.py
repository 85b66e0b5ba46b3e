"""Certificates that live for a day, made up for one test run."""

from __future__ import annotations

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def certificates(address: str) -> tuple[str, str]:
    """Return (an authority's certificate, a server's key with its certificate for `address`) as PEM."""
    day = datetime.timedelta(days=1)
    now = datetime.datetime.now(datetime.UTC)

    def signed(name: str, key, issuer: str, issuer_key, *, authority: bool) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - day)
            .not_valid_after(now + day)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if not authority:
            names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(issuer_key, hashes.SHA256())

    authority_key, server_key = (
        ec.generate_private_key(ec.SECP256R1()),
        ec.generate_private_key(ec.SECP256R1()),
    )
    authority = signed("authority", authority_key, "authority", authority_key, authority=True)
    server = signed("server", server_key, "authority", authority_key, authority=False)
    pem = serialization.Encoding.PEM
    private = server_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return authority.public_bytes(pem).decode(), private.decode() + server.public_bytes(pem).decode()


class Authority:
    """An own CA that issues certificates for 127.0.0.1, as a company's would."""

    def __init__(self, name: str = "Example CA") -> None:
        self.name = _name(name)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = self._sign(self.name, self.key.public_key(), authority=True, days=1)

    @property
    def pem(self) -> str:
        return _pem(self.certificate)

    def issue(
        self, *parts: str, days: float = 1, password: str | None = None, server: bool = False
    ) -> tuple[str, str]:
        """Return (certificate, key) as PEM for a subject such as `CN=aclweb`, `O=Example`; days < 0: expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(_name(*parts), key.public_key(), authority=False, days=days, server=server)
        encryption = (
            serialization.BestAvailableEncryption(password.encode())
            if password
            else serialization.NoEncryption()
        )
        private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
        return _pem(certificate), private.decode()

    def _sign(self, subject, public, *, authority: bool, days: float, server: bool = False):
        now = datetime.datetime.now(datetime.UTC)
        end = now + datetime.timedelta(days=days)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(min(now, end) - datetime.timedelta(days=1))
            .not_valid_after(end)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        )
        if server:
            address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
            builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
        return builder.sign(self.key, hashes.SHA256())


_KEYS = {
    "CN": NameOID.COMMON_NAME,
    "OU": NameOID.ORGANIZATIONAL_UNIT_NAME,
    "O": NameOID.ORGANIZATION_NAME,
    "EMAIL": NameOID.EMAIL_ADDRESS,
}


def _name(*parts: str) -> x509.Name:
    """Return the name with these parts in the certificate's own order; a part without `=` is a common name."""
    split = [part.partition("=") for part in parts]
    return x509.Name(
        [
            x509.NameAttribute(_KEYS[key], value) if sign else x509.NameAttribute(_KEYS["CN"], key)
            for key, sign, value in split
        ]
    )


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()

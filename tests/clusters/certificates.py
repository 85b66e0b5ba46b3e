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

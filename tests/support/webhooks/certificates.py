"""Certificates for endpoints on the loopback: good ones, and those that must be refused."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    """Issues certificates, and is trusted by whoever takes `trusting`."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    folder: Path

    def trusting(self) -> ssl.SSLContext:
        """Verifies as by default, with this authority as the only root."""
        return ssl.create_default_context(cadata=_pem(self.certificate).decode())

    def presenting(self, name: str, *, ended: bool = False) -> ssl.SSLContext:
        """A server with a certificate for a name, issued here; `ended` yesterday if wanted."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        end = now - _DAY if ended else now + _DAY
        return _server(self.folder, key, _certificate(name, key, self.certificate.subject, self.key, end, root=False))


def authority(folder: Path) -> Authority:
    """A new authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _name("Test authority")
    return Authority(
        key, _certificate("Test authority", key, subject, key, datetime.now(UTC) + _DAY, root=True), folder
    )


def presenting_its_own(folder: Path, name: str) -> ssl.SSLContext:
    """A server whose certificate nobody but itself has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    return _server(folder, key, _certificate(name, key, _name(name), key, datetime.now(UTC) + _DAY, root=False))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
    issuer_key: ec.EllipticCurvePrivateKey,
    end: datetime,
    *,
    root: bool,
) -> x509.Certificate:
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(end - 30 * _DAY)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=root, path_length=None), critical=True)
    )
    if not root:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _server(folder: Path, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> ssl.SSLContext:
    file = folder / f"{certificate.serial_number}.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(secret + _pem(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context

"""What a device, a consumer or a centre signs in with: told once, and kept nowhere."""

from typing import Self

from pydantic import BaseModel, Field

from catchment.config import Config
from catchment.security.authority import Authority, Credentials


class HandedOut(BaseModel):
    """A certificate with its key."""

    ca: str = Field(description="The authority of this node, in PEM.")
    certificate: str = Field(description="The certificate, in PEM.")
    key: str = Field(repr=False, description="Its private key, in PEM. It is told this once, and not kept.")

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "ca": "-----BEGIN CERTIFICATE-----…",
                    "certificate": "-----BEGIN CERTIFICATE-----…",
                    "key": "-----BEGIN PRIVATE KEY-----…",
                }
            ]
        }
    }

    @classmethod
    def of(cls, credentials: Credentials) -> Self:
        return cls(ca=credentials.ca, certificate=credentials.certificate, key=credentials.key)


def authority_of(config: Config) -> Authority:
    """The authority of this node."""
    return Authority(config.paths.identities, config.hostnames)

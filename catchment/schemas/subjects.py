"""Names of subjects: a node's own as they are, those of other sites with the site in front."""

import re
from dataclasses import dataclass

from catchment.errors import SchemaRefused
from catchment.schemas.model import SchemaVersion

_QUALIFIED = re.compile(r":\.([^:]*):(.*)", re.DOTALL)
_OWN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


@dataclass(frozen=True)
class Subject:
    """A subject of a site."""

    site: str
    name: str

    def includes(self, version: SchemaVersion) -> bool:
        return (version.site, version.subject) == (self.site, self.name)

    def called(self, own_site: str) -> str:
        """What it is called at a node: Confluent's form for subjects of another context."""
        return self.name if self.site == own_site else f":.{self.site}:{self.name}"


def read_subject(text: str, own_site: str) -> Subject:
    """The subject that a caller means, or a refusal."""
    qualified = _QUALIFIED.fullmatch(text)
    site, name = (qualified[1] or own_site, qualified[2]) if qualified else (own_site, text)
    if not _OWN.fullmatch(name):
        raise SchemaRefused(
            f"{text!r} is not the name of a subject",
            "Use 1 to 200 letters, digits, dots, hyphens and underscores, with a letter or digit first.",
            42208,
        )
    return Subject(site, name)

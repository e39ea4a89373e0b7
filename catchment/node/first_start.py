"""What a node needs before its parts start, made when it is missing: identities, token, administrator."""

from catchment.config import Config
from catchment.kafka.identities import advertised_host
from catchment.kafka.parties import Party
from catchment.security.authority import Authority
from catchment.security.files import write_private
from catchment.security.tokens import Scope, Tokens
from catchment.security.users import ADMINISTRATOR, UserRole, Users

OPERATOR = "operator"


def issue_identities(config: Config) -> None:
    """Issues a certificate to every party, so that the parts need not wait for one another."""
    advertised = [advertised_host(config)] if config.kafka.embedded else []
    authority = Authority(config.paths.identities, [*config.hostnames, *advertised])
    for party in Party:
        authority.identity(party)


def create_operator_token(config: Config) -> None:
    """Makes the token with every right and leaves it in a file for the operator, once."""
    tokens = Tokens(config.paths.tokens)
    if OPERATOR in tokens.all():
        return
    token = tokens.create(OPERATOR, frozenset(Scope))
    write_private(config.paths.operator_token, token.encode() + b"\n")


def create_administrator(config: Config) -> str | None:
    """Makes the first user, and gives its one-time password; nothing when there are users already."""
    users = Users(config.paths.users)
    return None if users.all() else users.add(ADMINISTRATOR, UserRole.ADMINISTRATOR)

"""The state of every registered site, asked of the running relay."""

from catchment.config import Config
from catchment.errors import NodeNotRunning
from catchment.health import State, ask
from catchment.relay.model import SiteState
from catchment.relay.register import Site, Sites

PART = "relay"


def site_states(config: Config) -> list[SiteState]:
    """What the relay says of each site; without a relay, what the register says."""
    registered = Sites(config.paths.sites).all()
    try:
        figures = ask(config.paths.socket(PART)).figures
    except NodeNotRunning:
        return [idle_state(site, State.STOPPED) for site in registered.values()]
    told = {site["name"]: SiteState.model_validate(site) for site in figures.get("sites", [])}
    return [told.get(name, idle_state(site, State.STARTING)) for name, site in registered.items()]


def idle_state(site: Site, state: State) -> SiteState:
    """Of a site whose relay does not run."""
    return SiteState(
        name=site.name,
        bootstrap_servers=site.bootstrap_servers,
        paused=site.paused,
        state=State.STOPPED if site.paused else state,
        detail="paused" if site.paused else "",
    )

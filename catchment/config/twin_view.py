"""What can be set of the view of twins, which every `catchment serve` has."""

from pydantic import Field

from catchment.config.section import Name, Section


class TwinViewSettings(Section):
    """Several instances of `catchment serve` share the twins, and ask each other."""

    instance: Name = Field(
        "api",
        max_length=60,
        description="Name of this instance of `catchment serve`, unique among those of the node.",
    )
    host: str = Field("127.0.0.1", description="Address on which it answers the others; 0.0.0.0 for all.")
    port: int = Field(
        0,
        ge=0,
        le=65535,
        description="Port for the others (TLS with client certificates); 0 takes any that is free.",
    )
    request_timeout_s: float = Field(
        3, gt=0, le=60, description="After so long, what another instance has counts as missing."
    )

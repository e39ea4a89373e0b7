"""The whole configuration: the only place that reads files and environment.

Precedence: a `CATCHMENT_…` variable, then the YAML file, then the default in the model.
"""

from catchment.config.kafka import KafkaSettings, TlsFiles
from catchment.config.loading import load
from catchment.config.models import (
    Config,
    GatewaySettings,
    Paths,
    PipelineSettings,
    Role,
)

__all__ = [
    "Config",
    "GatewaySettings",
    "KafkaSettings",
    "Paths",
    "PipelineSettings",
    "Role",
    "TlsFiles",
    "load",
]

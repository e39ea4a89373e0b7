"""What all parts of the configuration are made of."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from catchment.errors import InvalidRecord
from catchment.records import check_name


def _named(name: str) -> str:
    try:
        check_name("node", name)
    except InvalidRecord as error:
        raise ValueError(error.remedy) from None
    return name


Name = Annotated[str, AfterValidator(_named)]
Port = Annotated[int, Field(ge=1, le=65535)]


class Section(BaseModel):
    """A part of the configuration: nothing unknown, nothing changed after loading."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

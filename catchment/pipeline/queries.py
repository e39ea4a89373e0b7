"""The queries that a node runs."""

from catchment.pipeline.ledger import ledger
from catchment.pipeline.query import Query
from catchment.records import Kind

QUERIES = (
    Query(
        name="ledger",
        reads=(Kind.RECORDS,),
        writes=(Kind.LEDGER, Kind.DEADLETTER),
        build=lambda records, *_: ledger(records),
    ),
)

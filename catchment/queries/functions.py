"""The functions that expressions may call, with the types that they take and give.

`T` stands for any type, the same everywhere in a line (numbers widen), `N` for any type of number, and
`scalar` for everything but arrays. `?` marks what may be left out, `...` what may be repeated.
What is not here is refused: what could reach outside the query, give another answer when computed again,
or fail on a single row.
"""

import re
from dataclasses import dataclass

_SIGNATURES = """
abs(N) N
ceil(number) bigint
floor(number) bigint
round(N, int?) N
sqrt(number) double
exp(number) double
ln(number) double
log10(number) double
log2(number) double
sin(number) double
cos(number) double
tan(number) double
atan2(number, number) double
pow(number, number) double
power(number, number) double
sign(number) double
mod(N, N) N
pmod(N, N) N
greatest(T, T...) T
least(T, T...) T
coalesce(T...) T
nullif(T, T) T
ifnull(T, T) T
nvl(T, T) T
isnull(any) boolean
isnotnull(any) boolean
isnan(number) boolean
lower(string) string
upper(string) string
trim(string) string
ltrim(string) string
rtrim(string) string
initcap(string) string
reverse(string) string
length(string) int
substring(string, int, int?) string
substr(string, int, int?) string
left(string, int) string
right(string, int) string
concat(scalar...) string
concat_ws(string, scalar...) string
replace(string, string, string?) string
translate(string, string, string) string
lpad(string, int, string?) string
rpad(string, int, string?) string
repeat(string, int) string
instr(string, string) int
locate(string, string, int?) int
startswith(string, string) boolean
endswith(string, string) boolean
contains(string, string) boolean
split(string, string, int?) array<string>
split_part(string, string, int) string
regexp_extract(string, string, int?) string
regexp_replace(string, string, string) string
regexp_like(string, string) boolean
get_json_object(string, string) string
format_number(number, int) string
md5(string) string
sha2(string, int) string
crc32(string) bigint
hex(scalar) string
base64(binary) string
unbase64(string) binary
year(timestamp) int
quarter(timestamp) int
month(timestamp) int
weekofyear(timestamp) int
day(timestamp) int
dayofweek(timestamp) int
dayofyear(timestamp) int
hour(timestamp) int
minute(timestamp) int
second(timestamp) int
date_trunc(string, timestamp) timestamp
date_format(timestamp, string) string
to_timestamp(string, string?) timestamp
timestamp_seconds(number) timestamp
timestamp_millis(bigint) timestamp
timestamp_micros(bigint) timestamp
unix_seconds(timestamp) bigint
unix_millis(timestamp) bigint
unix_micros(timestamp) bigint
array(T...) array<T>
size(array<T>) int
element_at(array<T>, int) T
array_contains(array<T>, T) boolean
array_position(array<T>, T) bigint
array_distinct(array<T>) array<T>
array_max(array<T>) T
array_min(array<T>) T
array_join(array<string>, string, string?) string
sort_array(array<T>, boolean?) array<T>
slice(array<T>, int, int) array<T>
sequence(bigint, bigint, bigint?) array<bigint>
"""

AGGREGATES = ("count", "sum", "avg", "min", "max", "first", "last", "count_distinct")

# Why something that Spark has is refused, and what to write instead.
REMEDIES = {
    **dict.fromkeys(
        (*AGGREGATES, "mean", "stddev", "collect_list", "any_value"),
        "Compute it in the values of an aggregate box",
    ),
    **dict.fromkeys(
        ("now", "current_timestamp", "current_date", "rand", "randn", "uuid", "unix_timestamp"),
        "It gives another answer each time; use a column of the row, such as its time",
    ),
    **dict.fromkeys(
        ("explode", "posexplode", "inline"), "Use `each` of a map box, which makes rows of an array"
    ),
    **dict.fromkeys(("window", "session_window"), "Use `window` of an aggregate box"),
    "raise_error": "Leave rows out with a filter box",
}


@dataclass(frozen=True)
class Signature:
    """What one function takes and gives."""

    text: str
    parameters: tuple[str, ...]
    required: int
    variadic: bool
    result: str

    def parameter(self, index: int) -> str:
        """What the argument at a place has to be."""
        return self.parameters[min(index, len(self.parameters) - 1)]

    def takes(self, count: int) -> bool:
        return self.required <= count and (self.variadic or count <= len(self.parameters))


def _signature(line: str) -> tuple[str, Signature]:
    match = re.fullmatch(r"(\w+)\((.*)\) (.+)", line)
    assert match
    said = match[2].split(", ")
    parameters = tuple(each.rstrip("?.") for each in said)
    required = sum(not each.endswith("?") for each in said)
    return match[1], Signature(line, parameters, required, said[-1].endswith("..."), match[3])


FUNCTIONS = dict(map(_signature, _SIGNATURES.split("\n")[1:-1]))

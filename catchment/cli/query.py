"""`catchment query`: questions that are answered all the time."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catchment.cli.console import AsJson, configuration, output, print_json, print_table, working
from catchment.client import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from catchment.queries.tables import Row
    from catchment.queries.trial import Trial

app = typer.Typer(help="Answer questions all the time.", no_args_is_help=True)

_PATH = "/api/v1/queries"
QueryFile = Annotated[Path, typer.Argument(metavar="FILE", help="A query in YAML.")]
QueryName = Annotated[str, typer.Argument(metavar="NAME", help="Name of a deployed query.")]


@app.command()
def check(file: QueryFile, as_json: AsJson = False) -> None:
    """Check a query without a node: a line for everything that is wrong, and exit code 2."""
    from catchment.errors import InvalidQuery
    from catchment.queries.checker import check_file

    try:
        graph = check_file(file)
    except InvalidQuery as error:
        if as_json:
            print_json({"problems": error.problems})
            raise typer.Exit(error.exit_code) from None
        raise
    if as_json:
        print_json({"name": graph.name, "problems": []})
    else:
        boxes, outputs = len(graph.query.boxes), len(graph.query.outputs)
        typer.echo(f"{graph.name} is right: {boxes} boxes, {outputs} outputs")


@app.command()
def explain(
    context: typer.Context,
    file: QueryFile,
    at_node: Annotated[
        bool, typer.Option("--node", help="Compare with what is deployed at the running node.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say how a query runs: its mode, its tasks, its streams, and what becomes of state."""
    explained = _explained_by_node(context, file) if at_node else _explained_here(file)
    if as_json:
        print_json(explained)
    else:
        _print_explained(explained)


def _explained_by_node(context: typer.Context, file: Path) -> dict[str, Any]:
    body = {"yaml": file.read_text(encoding="utf-8")}
    with local_session(configuration(context)) as session:
        explained: dict[str, Any] = session.request("POST", f"{_PATH}/explain", json=body)
    return explained


def _explained_here(file: Path) -> dict[str, Any]:
    from catchment.queries.checker import check_file
    from catchment.queries.explain import explain as explained_of

    return explained_of(check_file(file)).model_dump()


def _print_explained(explained: dict[str, Any]) -> None:
    _say(f"{explained['name']} runs in {explained['mode']} mode: {explained['why']}")
    if explained["stateful"]:
        boxes = ", ".join(explained["stateful"])
        _say(f"{boxes} keep state, shared by {explained['tasks']} tasks a stage (`parallelism`)")
    rows = [_stream(each) for each in explained["streams"]]
    print_table(["stream", "from", "rows", "stage", "columns"], rows)
    _say(_state(explained))


@app.command("test")
def compare(file: QueryFile, as_json: AsJson = False) -> None:
    """Run a query on the small tables beside it, and compare what comes out with what is expected."""
    from catchment.queries.checker import check_file
    from catchment.queries.tables import differences, expected_rows, input_rows, table_rows
    from catchment.queries.trial import Trial, trial_session

    graph = check_file(file)
    folder = file.resolve().parent
    rows = {**input_rows(graph, folder), **table_rows(graph, folder)}
    expected = expected_rows(graph, folder)
    with working(f"Running {graph.name} on its tables"), trial_session() as spark:
        trial = Trial.on_tables(spark, graph, rows)
        wrong = {name: differences(those, trial.output(name)) for name, those in expected.items()}
    if as_json:
        print_json({"name": graph.name, "outputs": wrong})
    for name, lines in {} if as_json else wrong.items():
        typer.echo(f"{name}: {'as expected' if not lines else f'{len(lines)} rows differ'}")
        for line in lines:
            typer.echo(f"  {line}")
    if any(wrong.values()):
        raise typer.Exit(1)


@app.command()
def run(
    context: typer.Context,
    file: QueryFile,
    sample: Annotated[int, typer.Option(min=1, help="Rows of each stream to print.")] = 10,
    at_node: Annotated[
        bool, typer.Option("--node", help="Take the newest messages of the running node instead.")
    ] = False,
    messages: Annotated[
        int, typer.Option(min=1, max=100_000, help="With --node: messages of each partition to take.")
    ] = 1000,
    as_json: AsJson = False,
) -> None:
    """Run a query on the small tables beside it, or on what a node has, and print what passes each arrow."""
    streams = _streams(context, file, messages if at_node else None)
    if as_json:
        print_json({name: those[:sample] for name, those in streams.items()})
    else:
        _print_streams(streams, sample)


def _streams(context: typer.Context, file: Path, messages: int | None) -> dict[str, list["Row"]]:
    """What passes each arrow: of so many messages of a node, or of the small tables."""
    from catchment.queries.loading import read_query
    from catchment.queries.trial import trial_session

    # What is no query is refused before Spark is started for it.
    read_query(file)
    with working(f"Running {file.stem}"), trial_session() as spark:
        trial = _on_tables(file, spark) if messages is None else _sampled(context, file, spark, messages)
        return {name: trial.stream(name) for name in trial.streams}


def _print_streams(streams: dict[str, list["Row"]], sample: int) -> None:
    from catchment.queries.tables import show

    for name, those in streams.items():
        typer.echo(f"{name}: {len(those)} rows")
        for row in those[:sample]:
            typer.echo(f"  {show(row)}")


def _sampled(context: typer.Context, file: Path, spark: "SparkSession", messages: int) -> "Trial":
    from catchment.queries.sampling import sampled

    return sampled(configuration(context), file.read_text(encoding="utf-8"), spark, messages)


def _on_tables(file: Path, spark: "SparkSession") -> "Trial":
    from catchment.queries.checker import check_file
    from catchment.queries.tables import input_rows, table_rows
    from catchment.queries.trial import Trial

    graph = check_file(file)
    folder = file.resolve().parent
    return Trial.on_tables(spark, graph, {**input_rows(graph, folder), **table_rows(graph, folder)})


@app.command()
def deploy(context: typer.Context, file: QueryFile, as_json: AsJson = False) -> None:
    """Let the running node answer a query from now on, or change one that it answers."""
    from catchment.queries.loading import read_query

    query, _ = read_query(file)
    with local_session(configuration(context)) as session:
        deployed = session.put(f"{_PATH}/{query.name}", query.spec.declared())
    if as_json:
        print_json(deployed)
        return
    _say(f"{query.name} is deployed, version {deployed['query']['version']}")
    _say(_state(deployed["explanation"]))


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the deployed queries, and how they go."""
    with local_session(configuration(context)) as session:
        queries = list(session.pages(_PATH, limit=1000))
        components = {each["name"]: each for each in session.get("/api/v1/status")["components"]}
    rows = [_listed(query, components) for query in queries]
    if as_json:
        print_json(rows)
    else:
        print_table(["name", "site", "version", "where", "state", "detail"], rows)


@app.command()
def stop(context: typer.Context, name: QueryName) -> None:
    """Stop a query for good; its results stay as long as their topic keeps them."""
    with local_session(configuration(context)) as session:
        session.delete(f"{_PATH}/{name}")
    typer.echo(f"{name} is stopped")


@app.command()
def trace(context: typer.Context, name: QueryName, as_json: AsJson = False) -> None:
    """Say where a query's time and rows go, and which stage causes a delay or a loss."""
    with local_session(configuration(context)) as session:
        traced = session.get(f"{_PATH}/{name}/trace")
    if as_json:
        print_json(traced)
        return
    columns = ["name", "rows", "late", "refused", "delay_ms", "p99_ms", "own_ms"]
    print_table(columns, [{column: _cell(stage[column]) for column in columns} for stage in traced["stages"]])
    for line in _findings(traced):
        _say(line)


def _findings(traced: dict[str, Any]) -> list[str]:
    lines = [f"{traced['name']} is {traced['state']}{': ' + traced['detail'] if traced['detail'] else ''}"]
    if traced["slowest"]:
        lines.append(f"Most of the delay comes from {traced['slowest']}")
    if traced["losing"]:
        lines.append(f"Rows are late or refused at {', '.join(traced['losing'])}")
    if traced["met"] is not None:
        met = "met" if traced["met"] else "missed"
        lines.append(f"The objective of {traced['objective_ms']} ms is {met}: {traced['delay_ms']:.1f} ms")
    return lines


def _listed(query: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    from catchment.queries.deployment import component_name

    running = components.get(component_name(query["id"]), {"state": "not here", "detail": ""})
    return {
        "name": query["id"],
        "site": query["site"],
        "version": query["version"],
        "where": query["where"],
        "state": running["state"],
        "detail": running["detail"],
    }


def _stream(stream: dict[str, Any]) -> dict[str, Any]:
    return {
        "stream": stream["name"],
        "from": stream["what"],
        "rows": "may be replaced" if stream["updating"] else "stay",
        "stage": stream["stage"],
        "columns": ", ".join(f"{name} {found}" for name, found in stream["columns"].items()),
    }


def _state(explained: dict[str, Any]) -> str:
    if explained["state"] == "kept":
        return "It goes on from the state of the deployed version"
    if explained["state"] == "anew":
        return f"It starts anew, because {'; '.join(explained['changes'])}"
    return "It starts with what its topics have kept"


def _cell(value: Any) -> Any:
    return "" if value is None else value


def _say(line: str) -> None:
    output.print(line, markup=False, highlight=False, soft_wrap=True)

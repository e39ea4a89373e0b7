"""What a node needs of its machine: every lack is exit code 2 and one message that says what to change."""

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from catchment.config import Config
from catchment.errors import MachineError
from catchment.node.preflight import check_data_dir, check_free_space, check_port, check_ports

RunCatchment = Callable[..., "subprocess.CompletedProcess[str]"]


def refusal_of(result: "subprocess.CompletedProcess[str]") -> str:
    assert (result.returncode, result.stdout) == (2, ""), result
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith("machine: ")
    return result.stderr


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def config_in(data_dir: Path, **values: object) -> Config:
    return Config.model_validate({"data_dir": data_dir, **values})


def free_ports() -> dict[str, str]:
    """Variables that set every port of a node to a free one."""
    keys = ("KAFKA__PORT", "KAFKA__CONTROLLER_PORT", "GATEWAY__PORT", "API__PORT")
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in keys]
    ports = [server.getsockname()[1] for server in servers]
    for server in servers:
        server.close()
    return {f"CATCHMENT_{key}": str(port) for key, port in zip(keys, ports, strict=True)}


def test_the_data_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    check_data_dir(config_in(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_a_directory_that_exists_is_used_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    check_data_dir(config_in(tmp_path))
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_full_disk_is_refused(tiny_disk: Path) -> None:
    (tiny_disk / "ballast").write_bytes(b"x" * 64 * 1024)
    with pytest.raises(MachineError, match="No space left on device"):
        check_data_dir(config_in(tiny_disk))


def test_too_little_space_is_refused(tmp_path: Path) -> None:
    check_free_space(config_in(tmp_path, min_free_mib=0))
    with pytest.raises(MachineError, match="less than the 1000000000 MiB of min_free_mib"):
        check_free_space(config_in(tmp_path, min_free_mib=1_000_000_000))


def test_a_port_that_just_closed_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            accepted, _ = server.accept()
            accepted.close()  # from this side, so that the port is left in TIME_WAIT
            client.recv(1)
    check_port("api.port", "127.0.0.1", port)


def test_a_busy_port_is_refused_with_its_key_and_its_holder(busy_port: int) -> None:
    with pytest.raises(MachineError) as refusal:
        check_port("api.port", "127.0.0.1", busy_port)
    assert f"Port {busy_port} (api.port) is in use by process {os.getpid()}" in str(refusal.value)
    assert "set api.port to another port" in str(refusal.value)


@pytest.mark.parametrize("host", ["192.0.2.1", "nowhere.invalid"])
def test_an_address_that_is_not_ours_is_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises(MachineError, match=r"Set api\.host to an address of this machine"):
        check_ports(config_in(tmp_path, api={"host": host}))


def test_up_refuses_a_busy_port(run_catchment: RunCatchment, busy_port: int) -> None:
    variables = {**free_ports(), "CATCHMENT_GATEWAY__PORT": str(busy_port)}
    message = refusal_of(run_catchment("up", environment=variables))
    assert f"Port {busy_port} (gateway.port) is in use" in message


@pytest.mark.parametrize(
    "command", [["up"], ["provider", "add", "a"], ["token", "create", "a", "--scope", "ledger:read"]]
)
def test_every_writing_command_refuses_an_unwritable_data_directory(
    run_catchment: RunCatchment, tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    variables = {"CATCHMENT_DATA_DIR": str(tmp_path / "file" / "data")}
    message = refusal_of(run_catchment(*command, environment=variables))
    assert "cannot be written to: Not a directory. Set data_dir to a directory" in message


def test_up_refuses_a_full_disk(run_catchment: RunCatchment, tiny_disk: Path) -> None:
    variables = {**free_ports(), "CATCHMENT_DATA_DIR": str(tiny_disk)}
    assert "less than the 512 MiB of min_free_mib. Make room" in refusal_of(
        run_catchment("up", environment=variables)
    )


def test_up_refuses_a_wrong_java(run_catchment: RunCatchment, tmp_path: Path) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho java.base@11.0.2\n")
    java.chmod(0o755)
    variables = {**free_ports(), "JAVA_HOME": str(tmp_path / "jdk")}
    message = refusal_of(run_catchment("up", environment=variables))
    assert "is Java 11.0.2" in message
    assert "openjdk-17-jdk-headless" in message


def test_up_refuses_to_go_without_java(run_catchment: RunCatchment, tmp_path: Path) -> None:
    variables = {**free_ports(), "JAVA_HOME": str(tmp_path / "nothing")}
    assert "There is no Java" in refusal_of(run_catchment("up", environment=variables))


def test_down_and_status_say_that_nothing_runs(run_catchment: RunCatchment) -> None:
    for command in ("down", "status"):
        result = run_catchment(command)
        assert result.returncode == 1
        assert "No node is running" in result.stderr
    result = run_catchment("status", "--json")
    assert result.returncode == 1
    assert '"ready": false' in result.stdout
    assert '"components": []' in result.stdout

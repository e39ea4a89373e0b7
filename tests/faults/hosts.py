"""Hosts that are namespaces of this machine: each on a link of its own to one router between them."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from catchment.node.process import birth

PREFIX = "catchment-test"


class CannotMakeHosts(Exception):
    """This machine lets us make no namespaces, or lacks the tools for it."""


class Network:
    """The router. What it does not forward is dropped without a word, as a network far away does it."""

    def __init__(self) -> None:
        self._name = f"{PREFIX}-{os.getpid()}"
        self.router = f"{self._name}-router"
        self._hosts: list[Host] = []
        remove_remains()
        try:
            ip("netns", "add", self.router)
        except (OSError, subprocess.CalledProcessError) as error:
            raise CannotMakeHosts(str(error)) from None
        inside = ("nsenter", f"--net=/run/netns/{self.router}")
        run(*inside, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")

    def host(self, name: str) -> "Host":
        host = Host(self, f"{self._name}-{name}", name, len(self._hosts) + 1)
        self._hosts.append(host)
        return host

    def close(self) -> None:
        for host in self._hosts:
            host.remove()
        ip("netns", "delete", self.router)


class Host:
    """A host: an address, processes, and a link that can be cut, unplugged or made narrow."""

    def __init__(self, network: Network, namespace: str, name: str, number: int) -> None:
        self._router = network.router
        self._namespace = namespace
        self._link = name
        self._subnet = f"10.77.{number}"
        self.address = f"{self._subnet}.2"
        self._exists = False
        self.connect()

    def connect(self) -> None:
        """Makes the host and its link, as new: no connection of before is known to it."""
        ip("netns", "add", self._namespace)
        self._exists = True
        ip("-n", self._namespace, "link", "set", "lo", "up")
        there = ("type", "veth", "peer", "name", "eth0", "netns", self._namespace)
        ip("-n", self._router, "link", "add", self._link, *there)
        for namespace, link, end in ((self._router, self._link, 1), (self._namespace, "eth0", 2)):
            ip("-n", namespace, "address", "add", f"{self._subnet}.{end}/24", "dev", link)
            ip("-n", namespace, "link", "set", link, "up")
        ip("-n", self._namespace, "route", "add", "default", "via", f"{self._subnet}.1")

    def remove(self) -> None:
        """Takes the host away with all its connections; none of their other ends hears of it."""
        if self._exists:
            ip("netns", "delete", self._namespace)
            self._exists = False

    def command(self, *words: str) -> list[str]:
        """A command as it is run on this host."""
        return ["nsenter", f"--net=/run/netns/{self._namespace}", *words]

    def processes(self) -> list[int]:
        return [int(pid) for pid in ip("netns", "pids", self._namespace).split()]

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """Nothing reaches the host or comes from it, and nobody is told: connections stay half open."""
        rules = [("from", self.address, "blackhole"), ("to", self.address, "blackhole")]
        for rule in rules:
            ip("-n", self._router, "rule", "add", *rule)
        try:
            yield
        finally:
            for rule in rules:
                ip("-n", self._router, "rule", "delete", *rule)

    @contextmanager
    def unplugged(self) -> Iterator[None]:
        """The cable is out: the host itself sees it."""
        ip("-n", self._router, "link", "set", self._link, "down")
        try:
            yield
        finally:
            ip("-n", self._router, "link", "set", self._link, "up")

    @contextmanager
    def narrow(self, kbit_per_s: int) -> Iterator[None]:
        """The link carries no more than this, in either direction; what does not fit its queue is lost."""
        ends = ((self._router, self._link), (self._namespace, "eth0"))
        shape = ("tbf", "rate", f"{kbit_per_s}kbit", "burst", "8kb", "latency", "300ms")
        for namespace, link in ends:
            run("tc", "-n", namespace, "qdisc", "add", "dev", link, "root", *shape)
        try:
            yield
        finally:
            for namespace, link in ends:
                run("tc", "-n", namespace, "qdisc", "delete", "dev", link, "root")


def remove_remains() -> None:
    """Removes the namespaces of earlier runs that were killed."""
    for namespace in Path("/run/netns").glob(f"{PREFIX}-*"):
        pid = int(namespace.name.removeprefix(f"{PREFIX}-").partition("-")[0])
        if birth(pid) is None:
            ip("netns", "delete", namespace.name)


def ip(*words: str) -> str:
    return run("ip", *words)


def run(*words: str) -> str:
    """Runs a command of the system and gives what it says."""
    return _run(words).stdout


def _run(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(words, check=True, capture_output=True, text=True)

"""A held port is one starter's alone until its server listens there."""

from __future__ import annotations

import socket

import pytest

from devstack.servers.ports import hold_port


def listening(port):
    """As Java listens, and gunicorn."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen()
    return server


def test_a_remembered_port_is_held_by_one_of_two_starts_that_remember_it():
    free = hold_port()
    remembered = free.number
    free.close()

    held = hold_port(remembered)
    with pytest.raises(OSError):
        hold_port(remembered)
    held.close()

    hold_port(remembered).close()


@pytest.mark.parametrize("remembered", [False, True])
def test_the_server_listens_on_the_port_that_is_held_for_it(remembered):
    held = hold_port()
    if remembered:
        port = held.number
        held.close()
        held = hold_port(port)

    with listening(held.number) as server:
        with socket.create_connection(("127.0.0.1", held.number)) as client:
            server.accept()[0].close()
            assert client.recv(1) == b""
    held.close()


def test_a_port_whose_connections_linger_is_held_again():
    held = hold_port()
    port = held.number
    with listening(port) as server, socket.create_connection(("127.0.0.1", port)):
        # Who closes first keeps the connection for a while.
        server.accept()[0].close()
    held.close()

    again = hold_port(port)

    assert again.number == port
    again.close()

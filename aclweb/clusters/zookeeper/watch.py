"""When may ACLs have changed? A session with ZooKeeper stays open, and ZooKeeper tells it of each change node.

A watch tells once, so it is set anew after each time. What happens while the connection is down is told by nobody:
the next word after that is `EVERYTHING`, whether the session has outlived it or not.
"""

from __future__ import annotations

import threading

from kazoo.exceptions import NoNodeError
from kazoo.protocol.states import KazooState, KeeperState, WatchedEvent

from aclweb.acl.notation import znodes
from aclweb.clusters.client import ClusterError, ClusterState, Moved
from aclweb.clusters.kind import Connection
from aclweb.clusters.zookeeper.session import Session


class ZooKeeperWatch:
    """A session that waits for change nodes. Opened, waited for and closed by one thread."""

    def __init__(self, connection: Connection) -> None:
        self._session = Session(connection)
        self._woken = threading.Event()
        self._was_down = False
        try:
            self._session.kazoo.add_listener(self._on_state)
            self._set_watches()
        except BaseException:
            self.close()
            raise

    @property
    def is_connected(self) -> bool:
        return bool(self._session.kazoo.connected)

    def wait(self, timeout_seconds: float) -> Moved | None:
        """Return what may have changed, None where nothing has within this time, or the connection is down.

        Raises ClusterError where it cannot watch any more, as where ZooKeeper refuses the login now.
        """
        if not self._woken.wait(timeout_seconds) and not self._was_down:
            return None
        self._woken.clear()
        if self._session.kazoo.client_state == KeeperState.AUTH_FAILED:
            raise ClusterError(
                f"ZooKeeper at {self._session.where} refuses the login of the watch.",
                state=ClusterState.LOGIN_REFUSED,
            )
        if not self.is_connected:
            return None  # kazoo connects again, and wakes us then
        was_down, self._was_down = self._was_down, False
        try:
            self._set_watches()
        except ClusterError as error:
            if error.state is not ClusterState.UNREACHABLE:
                raise
            self._was_down = True  # tried again by the next call, which waits first
            return None
        return Moved.EVERYTHING if was_down else Moved.SOMETHING

    def _set_watches(self) -> None:
        """Have ZooKeeper tell of the next change node below each root, or of the root where there is none yet."""
        with self._session.reading("changes of its ACLs"):
            for root in znodes.CHANGE_ROOTS.values():
                self._watch_children(root)

    def _watch_children(self, root: str) -> None:
        session = self._session
        while True:
            try:
                session.get(session.kazoo.get_children_async(root, watch=self._on_event))
                return
            except NoNodeError:
                if session.get(session.kazoo.exists_async(root, watch=self._on_event)) is None:
                    return
                # Made between the two looks, and the second one hears of no node below it.

    # The next two are called by a thread of kazoo's, which must not wait.

    def _on_event(self, _event: WatchedEvent) -> None:
        self._woken.set()

    def _on_state(self, state: str) -> None:
        if state != KazooState.CONNECTED:
            self._was_down = True
        self._woken.set()

    def close(self) -> None:
        self._session.close()

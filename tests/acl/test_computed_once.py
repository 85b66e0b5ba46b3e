"""Is a value computed once, and does nobody wait for a value of somebody else?"""

from threading import Event, Thread

from aclweb.acl.model import computed_once


class Filed:
    """Something that takes as long as it is told to."""

    def __init__(self, may_go_on):
        self.began, self.may_go_on, self.asked = Event(), may_go_on, 0

    @computed_once
    def names(self):
        """The names that were filed."""
        self.asked += 1
        self.began.set()
        assert self.may_go_on.wait(60)
        return ["orders"]


def test_a_value_is_computed_when_it_is_asked_for_and_kept():
    free = Event()
    free.set()
    filed = Filed(free)

    assert filed.asked == 0
    assert filed.names is filed.names
    assert filed.asked == 1


def test_a_value_of_one_instance_is_no_value_of_another():
    free = Event()
    free.set()
    one, other = Filed(free), Filed(free)

    assert one.names == other.names
    assert one.names is not other.names


def test_nobody_waits_while_the_value_of_another_instance_is_computed():
    free, never_yet = Event(), Event()
    free.set()
    large, small = Filed(never_yet), Filed(free)
    at_work = Thread(target=lambda: large.names, daemon=True)
    at_work.start()
    assert large.began.wait(60)

    asking = Thread(target=lambda: small.names, daemon=True)
    asking.start()
    asking.join(10)
    was_kept_waiting = asking.is_alive()
    never_yet.set()
    at_work.join(60)

    assert not was_kept_waiting


def test_what_it_says_of_itself_is_kept():
    assert Filed.names.__doc__ == "The names that were filed."

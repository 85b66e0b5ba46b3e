"""What an operation means, and what the keys do: are the words there where somebody asks for them in a browser?"""

from __future__ import annotations

import pytest

from aclweb.inventory.sync.run import sync
from tests.builders import allow
from tests.fake_cluster import FakeCluster

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

READ = ".operation b:text-is('Read')"


@pytest.fixture
def read(unrecorded, cluster):
    acls = [allow(f"User:u{number:02}", "READ", "orders", host=f"10.0.0.{number}") for number in range(60)]
    sync(cluster, client=FakeCluster(acls, topics=["orders"]))
    return f"/c/{cluster.slug}"


def test_each_operation_says_what_it_means_also_in_a_part_that_came_later(read, ada, window):
    asked = "principal=User:nobody&operation=READ&type=TOPIC&name=orders&host=10.0.0.9"
    page = window(ada, f"{read}/explain/?{asked}")
    words = page.locator(f"#touching {READ}").filter(visible=True)

    def told() -> str:
        assert words.last.get_attribute("title") is None, "the page says it once"
        words.last.hover()
        return words.last.get_attribute("title")

    assert told().startswith("Fetch records of a topic")
    page.get_by_role("link", name="Next").click()
    page.get_by_role("link", name="Previous").wait_for()
    assert told().startswith("Fetch records of a topic")


def test_only_where_scripts_run_each_operation_is_said_to_have_its_meaning(ada, window):
    told = [window(ada, "/words/", scripts=runs).locator(".lead").inner_text() for runs in (True, False)]

    assert ["point at an operation" in lead for lead in told] == [True, False]


def test_the_keys_are_listed_when_somebody_asks_and_the_page_stays(read, ada, window):
    page = window(ada, f"{read}/topics/")

    page.keyboard.press("?")
    page.locator("dialog#keys[open]").wait_for()
    assert "Select the row" in page.locator("dialog#keys").inner_text()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show the keys").click()
    page.locator("dialog#keys[open]").wait_for()
    assert page.locator("#key-list").count() == 1
    assert page.url.endswith(f"{read}/topics/")

"""What do all pages send, and send only once?"""

from __future__ import annotations

import re

from aclweb.inventory.sync.run import sync
from aclweb.web.shell.unindented import unindented
from tests.builders import allow
from tests.fake_cluster import FakeCluster


def test_no_template_sends_the_blank_space_that_indents_its_source():
    source = "<ul>\n    {% for each in rows %}\n\t<li>\n  </li>{% endfor %}\n</ul>"

    assert unindented(source) == "<ul>\n{% for each in rows %}\n<li>\n</li>{% endfor %}\n</ul>"


def test_what_is_shown_letter_by_letter_keeps_its_blank_space():
    source = "<div>\n  <pre>\n  a\n    b</pre>\n  <textarea>\n  c</textarea>\n</div>"

    assert unindented(source) == "<div>\n<pre>\n  a\n    b</pre>\n<textarea>\n  c</textarea>\n</div>"


def test_the_frame_of_a_page_stays_small(cluster, ada, signed_in):
    sync(cluster, client=FakeCluster([allow("User:bob", "READ", "orders")], topics=["orders"]))

    page = signed_in(ada).get(f"/c/{cluster.slug}/topics/").text

    around = page.partition("<main")[0] + page.partition("</main>")[2]
    assert "what-if" in around
    assert len(around) < 9 * 1024
    assert not re.search(r"\n[ \t]+\S", around)


def test_a_page_says_once_what_an_operation_means(cluster, ada, signed_in):
    bindings = [allow(f"User:{name}", "READ", "orders") for name in ("bob", "eve", "dan")]
    sync(cluster, client=FakeCluster(bindings, topics=["orders"]))

    page = signed_in(ada).get(f"/c/{cluster.slug}/topics/orders", {"tab": "acls"}).text

    assert len(re.findall(r'class="operation"><b[^>]*>Read</b>', page)) == 3
    assert page.count("Fetch records of a topic") == 1

"""Does the page of a principal part into tabs of few queries, and show its own denials with their states?"""

import re
from html import unescape

import pytest

from aclweb.acl.notation import binding_key
from aclweb.insights.denial_marks import mark
from aclweb.insights.queries import Use
from aclweb.inventory.models import Cluster
from aclweb.web.browse.principal_tabs import UsedRights
from tests.insights.conftest import given, read_cluster, two_weeks_will_do  # noqa: F401 fixtures
from tests.insights.results import request

PAGE = "/c/test-eu/principal/?name=User:bob"
REQUESTS = [
    request("User:bob", "READ", "payments.eu", allowed=True, decided_now="ALLOWED", lines=70),
    request("User:bob", "WRITE", "payments.eu", lines=4),
    request("User:bob", "READ", "billing", resource_type="GROUP", lines=2),
    request("User:eve", "READ", "payments.us", lines=3),
]


@pytest.mark.half
@pytest.mark.parametrize("name", ["User:bob", "User:nobody"])
@pytest.mark.parametrize("tab", ["", "denials", "seen", "traffic", "names"])
def test_each_tab_takes_few_queries(given, signed_in, ada, name, tab, django_assert_max_num_queries):  # noqa: F811
    given(requests=REQUESTS)
    browser = signed_in(ada)
    address = f"/c/test-eu/principal/?name={name}&tab={tab}"
    browser.get(address)

    with django_assert_max_num_queries(12):
        page = browser.get(address)

    assert page.context["tab"] == (tab or "access")
    assert ("Unknown name." in page.content.decode()) == (name == "User:nobody")


def test_the_denials_of_a_principal_are_its_own_and_lead_to_the_inbox(given, signed_in, ada):  # noqa: F811
    given(requests=REQUESTS)
    browser = signed_in(ada)

    page = browser.get(f"{PAGE}&tab=denials")
    shown = unescape(page.content.decode())

    denials = {each.resource.name: each for each in page.context["denials"]}
    assert set(denials) == {"payments.eu", "billing"}
    assert "payments.us" not in shown
    for each in denials.values():
        assert f"/c/test-eu/insights/?days=all&open={each.short_key}#denials" in shown
    assert re.search(r'aria-current="page">Denials <span class="count" data-tone="deny">2<', shown)


@pytest.mark.parametrize(("groups", "is_shown"), [(6, True), (7, False)])
def test_few_denials_are_shown_above_the_traffic(given, signed_in, ada, groups, is_shown):  # noqa: F811
    many = [request("User:bob", "WRITE", f"payments.{place}", lines=2) for place in range(groups)]
    given(requests=[REQUESTS[0], *many])

    page = signed_in(ada).get(f"{PAGE}&tab=denials").content.decode()

    assert ('id="traffic"' in page) is is_shown
    assert not is_shown or page.index('id="denials"') < page.index('id="traffic"')
    assert not is_shown or "<b>70</b> permitted" in page


def test_a_denial_has_the_state_that_somebody_gave_it(given, signed_in, ada):  # noqa: F811
    cluster = given(requests=REQUESTS).cluster
    browser = signed_in(ada)
    (group,) = [
        each
        for each in browser.get(f"{PAGE}&tab=denials").context["denials"]
        if each.resource.name == "billing"
    ]
    mark(cluster=cluster, key=group.key, denial="READ", actor=ada, state="expected", reason="It may not.")

    page = browser.get(f"{PAGE}&tab=denials")

    assert {each.resource.name: each.state for each in page.context["denials"]} == {
        "billing": "expected",
        "payments.eu": "new",
    }


def test_a_principal_without_denials_says_what_the_log_covers(given, signed_in, ada):  # noqa: F811
    given(requests=REQUESTS)

    page = signed_in(ada).get("/c/test-eu/principal/?name=User:ops&tab=denials")

    assert "None. " in page.content.decode()
    assert "cannot tell" not in page.content.decode().split('id="denials"')[1].split("</section>")[0]
    assert '<span class="count">0</span>' in page.content.decode()


def test_without_a_log_nothing_is_said_of_denials(read_cluster, signed_in, ada):  # noqa: F811
    page = signed_in(ada).get(f"{PAGE}&tab=denials").content.decode()

    part = page.split('id="denials"')[1].split("</section>")[0]
    assert "cannot tell" in part
    assert "None." not in part


def test_denials_come_in_pages_that_keep_the_tab(given, signed_in, ada, monkeypatch):  # noqa: F811
    monkeypatch.setattr("aclweb.web.browse.insight_tabs.DENIALS_SHOWN", 1)
    given(requests=REQUESTS)

    page = signed_in(ada).get(f"{PAGE}&tab=denials&page=2")
    part = signed_in(ada).get(f"{PAGE}&tab=denials&page=2", headers={"HX-Request": "true"}).content.decode()

    assert len(page.context["denials_shown"]) == 1
    assert "?name=User%3Abob&amp;tab=denials&amp;page=1" in page.content.decode()
    assert part.strip().startswith('<section class="card" id="denials"')


RULES = "RULE:^CN=([^,]*),OU=apps.*$/$1/L"


def read_from_brokers(cluster, **facts):
    read = {
        "where": "broker 1",
        "proven": [],
        "authorizer_class": "",
        "ssl_rules": RULES,
        "kerberos_rules": None,
    }
    Cluster.objects.filter(pk=cluster.pk).update(settings_read=read | facts)


def names_shown(browser, address=f"{PAGE}&tab=names"):
    page = unescape(browser.get(address).content.decode())
    return re.sub(
        r"\s+", " ", re.sub("<[^>]*>", " ", page.split('id="names-title">')[1].split("</section>")[0])
    )


def test_names_that_become_it_are_shown_by_the_brokers_mapping_rules(read_cluster, signed_in, ada):  # noqa: F811
    read_from_brokers(read_cluster)

    shown = names_shown(signed_in(ada))

    assert "read from broker 1" in shown
    assert "certificate only what matches ^CN=bob,OU=apps.*$ bob may be in any letter case." in shown
    assert "Kerberos cannot tell The brokers hide these mapping rules, or have different ones." in shown
    assert "other login bob By SASL, such as SCRAM or PLAIN. as it is" in shown


def test_a_mapping_rule_that_cannot_yield_it_gives_no_name(read_cluster, signed_in, ada):  # noqa: F811
    read_from_brokers(read_cluster, kerberos_rules="DEFAULT")

    shown = names_shown(signed_in(ada), "/c/test-eu/principal/?name=User:Bob&tab=names")

    assert "No certificate subject becomes it." in shown
    assert "Bob/HOST@REALM" in shown


def test_a_builder_of_its_own_leaves_every_name_unknown(read_cluster, signed_in, ada):  # noqa: F811
    read_from_brokers(read_cluster, principal_builder="com.example.Names")

    shown = names_shown(signed_in(ada))

    assert shown.count("cannot tell") == 2
    assert "com.example.Names" in shown
    assert "as it is" not in shown


def test_where_mapping_rules_are_unknown_the_page_leads_to_the_mapping(
    read_cluster,  # noqa: F811
    signed_in,
    ada,
):
    browser = signed_in(ada)

    shown = names_shown(browser)
    page = browser.get("/c/test-eu/mapping/?kind=ssl&principal=User%3Abob&rules=")
    pasted = {"kind": "ssl", "rules": "RULE:^CN=(.*?),.*$/$1/", "principal": "User:bob"}
    mapped = browser.post("/c/test-eu/mapping/", pasted | {"names": "CN=bob,O=x\nCN=eve,O=x"})

    assert "the mapping rules of the brokers have not been read" in shown
    assert 'name="principal" value="User:bob"' in page.content.decode()
    assert "1 of these 2 names becomes" in mapped.content.decode()
    assert mapped.content.decode().count("the one looked for") == 1
    assert "principal=User%3Abob" in mapped.context["link"]


def test_the_mapping_rules_of_the_brokers_are_filled_in_where_names_are_mapped(read_cluster, signed_in, ada):  # noqa: F811
    read_from_brokers(read_cluster)
    browser = signed_in(ada)
    (word, address), _ = browser.get(f"{PAGE}&tab=names").context["map_links"]

    form = browser.get(address).context["form"]

    assert word == "certificates"
    assert (form["rules"].value(), form["kind"].value()) == (RULES, "ssl")


def test_clients_without_a_name_are_among_those_that_become_anonymous(read_cluster, signed_in, ada):  # noqa: F811
    read_from_brokers(read_cluster)
    browser = signed_in(ada)
    told = "Any client of PLAINTEXT, or of TLS without a certificate."

    assert told in names_shown(browser, "/c/test-eu/principal/?name=User:ANONYMOUS&tab=names")
    assert told not in names_shown(browser)


def test_a_principal_is_told_how_many_of_its_acls_no_request_needed(given, signed_in, ada):  # noqa: F811
    loaded = given(requests=REQUESTS)
    browser = signed_in(ada)

    page = browser.get(PAGE)

    own = page.context["access"].own
    listed = browser.get(f"/c/{loaded.cluster.slug}/acls/?principal=User:bob&use=unused").context["page"]
    used = page.context["used"]
    assert (used.total, used.unknown) == (len(own), 0)
    assert used.unused == listed.paginator.count > 0
    assert f"{used.unused} of its {used.total} ACLs" in page.text
    states = {
        right.acl: page.context["uses"][binding_key(right.acl)].state
        for row in page.context["rows"]
        for right in row.rights
    }
    assert sum(states[acl] == "unused" for acl in own) == used.unused
    assert (
        page.text.count('data-use="unused"') == sum(each == "unused" for each in states.values()) + 1
    )  # the legend


def test_without_a_log_nobody_can_tell_which_acls_are_used(read_cluster, signed_in, ada):  # noqa: F811
    page = signed_in(ada).get(PAGE)

    assert page.context["used"].unknown == page.context["used"].total
    assert "No authorizer log has been read." in page.text
    assert "was not used" not in page.text
    assert "were not used" not in page.text


def test_a_super_user_needs_no_acl(read_cluster, signed_in, ada):  # noqa: F811
    Cluster.objects.filter(pk=read_cluster.pk).update(super_users="User:root")

    page = signed_in(ada).get("/c/test-eu/principal/?name=User:root")

    without = [row for row in page.context["rows"] if row.binding is None]
    assert {row.resource_type.name for row in without} >= {"TOPIC", "CLUSTER"}
    assert "no ACL is needed" in page.text
    assert not any(right.idle for row in page.context["rows"] for right in row.rights)


def test_each_reason_why_the_use_of_acls_is_unknown_is_told_once():
    reasons = ("too young", "no permits", "too young")
    uses = [Use(str(place), "cannot-tell", reason=reason) for place, reason in enumerate(reasons)]

    assert UsedRights.of([Use("x", "used"), *uses]) == UsedRights(1, 0, 3, "too young; no permits", "")

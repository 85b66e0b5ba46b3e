"""Several clusters are compared on a page and by the API, for who may see all of them and for nobody else."""

from __future__ import annotations

import csv
import json
from html import unescape
from io import StringIO

import pytest
from rest_framework.test import APIClient

from aclweb.accounts.models import Grant, Role
from aclweb.insights.analyses import ringing
from aclweb.insights.models import Analysis, Load
from tests.insights import analysed
from tests.insights.conftest import given, read_cluster, two_logged  # noqa: F401 - fixtures

PAGE = "/c/test-eu/insights/analyses/"
API = "/api/v1/clusters/test-eu/analyses/"


@pytest.fixture(autouse=True)
def no_queue(monkeypatch):
    monkeypatch.setattr(ringing, "enqueue", lambda: None)


@pytest.fixture
def jobs(monkeypatch, tmp_path):
    return analysed.Jobs(monkeypatch, tmp_path)


@pytest.fixture
def both(two_logged, cho):  # noqa: F811
    """Somebody who may look at both clusters."""
    Grant.objects.create(user=cho, cluster=two_logged[1], role=Role.VIEWER)
    return cho


@pytest.fixture
def done(both, signed_in, jobs, tmp_path):
    signed_in(both).post(f"{PAGE}start/", {"job": "compare", "beside": ["test-us"]})
    return jobs.run(analysed.compared(tmp_path / "compare", analysed.RIGHTS))


def text_of(answer) -> str:
    return unescape(answer.content.decode())


def page_of(row: Analysis, act: str = "") -> str:
    return f"{PAGE}{row.address}/{act}"


def test_clusters_are_chosen_on_the_card_and_the_run_is_followed_and_cancelled(both, signed_in):
    browser = signed_in(both)
    listed = text_of(browser.get(PAGE, {"beside": "test-us"}))

    started = browser.post(f"{PAGE}start/", {"job": "compare", "beside": ["test-us"]})

    row = Analysis.objects.get()
    assert 'name="beside" value="test-us" checked' in listed
    assert (row.job, row.options, row.asked_by) == ("compare", {"beside": "test-us"}, "cho")
    assert started["Location"] == page_of(row)
    assert "It waits for a worker." in text_of(browser.get(page_of(row)))
    browser.post(page_of(row, "cancel/"))
    ended = text_of(browser.get(page_of(row)))
    assert "Cancelled by cho." in ended
    assert '<input type="hidden" name="beside" value="test-us">' in ended, "it is run again with the same"


def test_clusters_that_a_person_may_not_see_are_not_offered_and_cannot_be_chosen(two_logged, cho, signed_in):  # noqa: F811
    browser = signed_in(cho)
    listed = browser.get(PAGE)

    refused = browser.post(f"{PAGE}start/", {"job": "compare", "beside": "test-us"})

    assert "test-us" not in text_of(listed)
    assert "This is the only cluster that you may look at." in text_of(listed)
    assert refused.status_code == 422
    assert not Analysis.objects.exists()


def test_bad_choices_get_a_sentence_at_the_field_and_are_kept(both, two_logged, signed_in):  # noqa: F811
    browser = signed_in(both)
    Load.objects.filter(cluster=two_logged[1]).delete()

    none = browser.post(f"{PAGE}start/", {"job": "compare"})
    without_log = browser.post(f"{PAGE}start/", {"job": "compare", "beside": ["test-us"]})

    assert (none.status_code, without_log.status_code) == (422, 422)
    assert "one alone is compared with nothing." in text_of(none)
    problem = text_of(without_log).partition('id="beside-problem"')[2].partition("</p>")[0]
    assert "No authorizer log of test-us has been read yet" in problem
    assert 'value="test-us" checked' in text_of(without_log)
    assert not Analysis.objects.exists()


def test_a_bad_choice_while_another_runs_is_said_too(both, signed_in):
    browser = signed_in(both)
    browser.post(f"{PAGE}start/", {"job": "compare", "beside": ["test-us"]})

    refused = browser.post(f"{PAGE}start/", {"job": "compare", "beside": ["nowhere"]})

    assert refused.status_code == 422
    assert "There is no cluster 'nowhere' that you may look at." in text_of(refused)
    assert Analysis.objects.count() == 1


def test_a_result_says_first_what_differs_and_names_the_clusters_of_each_row(done, both, signed_in):
    page = signed_in(both).get(page_of(done))
    topics = signed_in(both).get(page_of(done), {"table": "topics", "kind": "used in part"})
    none = signed_in(both).get(page_of(done), {"text": "nobody"})

    text = text_of(page)
    assert "2 rights: 1 used in part, 1 used on all." in text
    assert "Compared: test-eu, test-us." in text
    assert text.index("What the log can show") < text.index('id="rows"')
    cells = {cell.heading: (cell.value, cell.kind) for cell in page.context["rows"][0].cells}
    assert (cells["test-eu"], cells["test-us"]) == (("not used", "allowed"), ("used", ""))
    assert [name for name, _ in page.context["headings"]] == list(cells)
    assert "ACLs allow it</span>" in text
    assert len(topics.context["rows"]) == 1
    assert "No such row" in text_of(none)


def test_each_sentence_about_two_clusters_leads_to_its_rows_by_an_address(done, both, signed_in):
    browser = signed_in(both)
    text = text_of(browser.get(page_of(done)))

    def shown(**asked):
        return [row.cells[1].value for row in browser.get(page_of(done), asked).context["rows"]]

    assert "test-eu uses 1 right; test-us does too." in text
    assert "test-us uses 2 rights; test-eu does not use 1 of them, and its ACLs allow 1 of these." in text
    assert 'href="?table=rights&used_on=test-us&not_on=test-eu#rows"' in text
    assert shown(used_on="test-us", not_on="test-eu") == ["User:bob"]
    assert shown(used_on="test-us") == ["User:bob", "User:eve"]
    assert shown(allowed_on="test-eu") == ["User:bob"]
    assert shown(allowed_on="test-us") == []
    assert shown(used_on="elsewhere") == ["User:bob", "User:eve"], "a cluster of another comparison"
    chosen = text_of(browser.get(page_of(done), {"not_on": "test-eu"}))
    assert chosen.count('<option value="test-eu" selected>') == 1
    assert 'href="?table=topics&not_on=test-eu#rows"' in chosen, "another table is about the same clusters"
    assert "not_on=test-eu" in chosen.partition("export/")[2].partition('"')[0], "the file has the same rows"


@pytest.mark.parametrize("name", ['x", "used_on": ["test-eu"], "y": "', "test-eu", "used_on"])
def test_a_name_that_looks_like_a_column_does_not_pass_a_filter(both, signed_in, jobs, tmp_path, name):
    signed_in(both).post(f"{PAGE}start/", {"job": "compare", "beside": ["test-us"]})
    right = analysed.RIGHTS[0] | {"resource_name": name}
    row = jobs.run(analysed.compared(tmp_path / "compare", [right]))

    page = signed_in(both).get(page_of(row), {"used_on": "test-eu"})

    assert (row.rows_kept, page.context["rows"]) == (3, [])


def test_a_page_of_many_rows_and_clusters_costs_few_queries(
    both, signed_in, jobs, tmp_path, django_assert_max_num_queries
):
    browser = signed_in(both)
    browser.post(f"{PAGE}start/", {"job": "compare", "beside": ["test-us"]})
    rights = [analysed.RIGHTS[0] | {"resource_name": f"t{number}"} for number in range(200)]
    row = jobs.run(analysed.compared(tmp_path / "compare", rights))
    browser.get(page_of(row))

    with django_assert_max_num_queries(14):
        page = browser.get(page_of(row), {"used_on": "test-us", "page": "4"})

    assert (len(page.context["rows"]), page.context["page"].paginator.count) == (25, 200)


def test_a_result_is_taken_along_as_a_file(done, both, signed_in):
    browser = signed_in(both)

    as_csv = browser.get(page_of(done, "export/"), {"kind": "used in part"}).getvalue().decode()
    as_json = (
        browser.get(page_of(done, "export/"), {"table": "topics", "format": "jsonl"}).getvalue().decode()
    )

    rows = list(csv.DictReader(StringIO(as_csv)))
    assert [(row["principal"], json.loads(row["not_used_on"])) for row in rows] == [("User:bob", ["test-eu"])]
    assert [json.loads(line)["topic"] for line in as_json.splitlines()] == ["orders"]


def test_who_may_not_see_one_of_the_clusters_sees_no_trace_of_the_result(done, ada, signed_in):
    browser = signed_in(ada)
    program = APIClient()
    program.force_authenticate(ada)
    url = f"{API}{done.address}/"

    answers = [browser.get(page_of(done)), browser.get(page_of(done, "export/"))]
    answers += [browser.post(page_of(done, "cancel/")), program.get(url), program.delete(url)]
    answers.append(program.get(f"{url}rows/"))

    assert {answer.status_code for answer in answers} == {404}
    assert not any("test-us" in text_of(answer) for answer in answers)
    assert program.get(API).json()["results"] == []
    listed = text_of(browser.get(PAGE))
    assert "test-us" not in listed
    assert "1 used in part" not in listed


def test_a_program_compares_clusters_and_reads_the_rows(both, jobs, tmp_path):
    program = APIClient()
    program.force_authenticate(both)

    wrong = program.post(API, {"job": "compare", "options": {"beside": "nowhere"}}, format="json")
    started = program.post(API, {"job": "compare", "options": {"beside": "test-us"}}, format="json")
    jobs.run(analysed.compared(tmp_path / "compare", analysed.RIGHTS))
    url = started.json()["url"]
    of_eu = program.get(f"{url}rows/", {"not_on": "test-eu"}).json()["rows"]
    unknown = program.get(f"{url}rows/", {"used_on": "nowhere"})
    ended, page = program.get(url).json(), program.get(f"{url}rows/", {"kind": "used in part"}).json()

    assert wrong.status_code == 400
    assert "There is no cluster 'nowhere' that you may look at." in wrong.content.decode()
    assert (started.status_code, started.json()["options"]) == (202, {"beside": "test-us"})
    assert (ended["state"], ended["counts"]["topics"]) == ("DONE", {"": 1, "used in part": 1})
    assert [row["principal"] for row in of_eu] == ["User:bob"]
    assert "use test-eu, test-us" in unknown.content.decode()
    assert [claim["known"] for claim in ended["claims"]] == [True, False]
    assert [row["used_on"] for row in page["rows"]] == [["test-us"]]
    assert [each["state"] for each in program.get(API).json()["results"]] == ["DONE"]

"""Every operation and term of the pages has a meaning, on a page of its own and where an operation is shown."""

from __future__ import annotations

from aclweb.acl.model import Operation
from aclweb.inventory.sync.run import sync
from aclweb.web.shell import glossary
from tests.builders import allow
from tests.inventory.answering_cluster import Answers


def test_every_operation_that_an_acl_can_have_has_a_meaning():
    assert set(glossary.OPERATIONS) == set(Operation) - {Operation.UNKNOWN, Operation.ANY}


def test_a_meaning_is_one_or_two_short_sentences_and_no_word_is_there_twice():
    terms = [*glossary.KAFKAS, *glossary.OURS]
    for meaning in (*glossary.OPERATIONS.values(), *(term.meaning for term in terms)):
        sentences = meaning.removesuffix(".").split(". ")
        assert len(sentences) <= 2, meaning
        assert all(len(sentence.split()) <= 20 for sentence in sentences), meaning
    words = [term.word for term in terms]
    assert len(set(words)) == len(words)
    assert [term.word for term in glossary.OURS] == sorted(
        (term.word for term in glossary.OURS), key=str.casefold
    )


def test_the_page_of_words_says_what_an_operation_means_and_the_list_fetches_it(cluster, ada, signed_in):
    sync(cluster, client=Answers([allow("User:bob", "READ", "orders")]))
    browser = signed_in(ada)

    page = browser.get("/words/")
    listed = browser.get(f"/c/{cluster.slug}/acls/")

    assert f"<dt>Read</dt><dd>{glossary.OPERATIONS[Operation.READ]}</dd>" in page.text
    assert 'hx-get="/words/" hx-select="#operations"' in listed.text
    assert '<dl class="facts words" id="operations">' in page.text

"""What do the ACLs answer to millions of requests, or to every principal on every name?

Import from here: `decide_all` with its columns, which `requests_of` takes out of Arrow's, and `AccessMatrix`.

Both questions are painting: the names are sorted, so a prefix covers a range of them, and a
principal's masks are laid over the ranges in a few array operations instead of one decision after
another. Every answer is that of `decide`; what is rare there (unknown values, questions about a
whole type, the authorizer `glob`) a batch asks of `decide` itself.

Masks are those of `aclweb.acl.authorizer.masks`: allowed, denied, perhaps allowed, perhaps denied, with
16 bits each, of which bit `operation.code` is an operation's.
"""

from aclweb.pipeline.batch.arrow import answer_texts, requests_of
from aclweb.pipeline.batch.columns import BASES, Answers, Column, Requests
from aclweb.pipeline.batch.deciding import decide_all
from aclweb.pipeline.batch.matrix import AccessMatrix, MatrixRow

__all__ = [
    "BASES",
    "AccessMatrix",
    "Answers",
    "Column",
    "MatrixRow",
    "Requests",
    "answer_texts",
    "decide_all",
    "requests_of",
]

"""May this principal do that, from there, and why?

The home page, the explanation of one request, client actions, mapping rules, pasted log lines and client
exceptions. Import from here:
`in_words`, which says "from any host" where a sentence says `from *`.
"""

from aclweb.web.ask.answering import in_words

__all__ = ["in_words"]

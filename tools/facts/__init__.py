"""What does the whole product tell the world, and did a change of its code change that?

    python -m tools.facts record DIR           every fact, into DIR (some minutes)
    python -m tools.facts compare BEFORE AFTER what differs between two recordings

A fact is what somebody outside sees: the output of a command, the answer of an address, a page's text, a name that is
promised. Recordings of one commit are equal byte for byte. `docs/maintainers/facts.md` tells how to use it.
"""

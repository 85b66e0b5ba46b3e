"""The lint rules, one a file: `registry` finds each by walking this folder, so a new file is a new rule.

docs/maintainers/adding.md says how to add one.
"""

"""May this principal do that, from there, and why? The home page, the answer, client actions, pasted log lines."""

"""One file a page: a view reads the request, asks one question, and chooses a template."""

"""What do all pages share?

The frame around a page (`frame`, `htmx`, `notices`), addresses (`links`, `as_of`, `paging`), fields (`forms`,
`typed_principal`, `put_back`), texts (`spelling`, `exporting`), accounts (`session`), health (`health`, `liveness`) and
error pages (`broken`, `refused`). Its modules are public. There are no imports here: Django loads this before models.
"""

"""Which change requests are there, what becomes of them, and what was done? Changes and the audit trail."""

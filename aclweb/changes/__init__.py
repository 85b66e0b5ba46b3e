"""Changes: what an edit would do, who requested and approved it, whether it was written."""

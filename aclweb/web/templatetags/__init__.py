"""What templates need and Django has not: tags and filters for the words of ACLs."""

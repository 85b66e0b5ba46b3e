"""What stands around every page: the frame, links, paging, forms, sign-in, health, error pages."""

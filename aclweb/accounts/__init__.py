"""Who may see and do what, on which cluster?"""

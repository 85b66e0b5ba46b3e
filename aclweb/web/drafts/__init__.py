"""What would this edit change? Drafts, what-ifs and comparisons."""

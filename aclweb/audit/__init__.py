"""Who did what, and when? Append-only events that outlive what they describe."""

"""How is an approved change written to its cluster: exactly what was approved, once?"""

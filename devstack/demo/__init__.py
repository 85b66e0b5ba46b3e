"""Which made-up company do the demo and the tests of whole pages look at?

Nordhavn is a Nordic web shop with payments, a warehouse, search and a data platform.
Everything about it is fixed text or comes from a fixed seed, so that every demo is the same.
"""

"""Inputs that nobody wrote on purpose: one sentence, never a traceback.

A few hundred are tried in each run of the tests; ``FUZZ_INPUTS=10000 pytest tests/fuzz`` tries
at least that many.
"""

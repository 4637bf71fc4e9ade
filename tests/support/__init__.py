"""Shared test code: problem generators, oracles, tables of cases, settings."""

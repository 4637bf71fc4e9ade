"""What several test files share: generators of problems, oracles, tables of cases, settings."""

"""Vendors behind ports: embedding models (SPEC 7). One vendor a file; ``registry`` builds them by name."""

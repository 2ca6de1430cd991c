"""Generated tables. Nothing is written by hand here; the tests regenerate each table and compare."""

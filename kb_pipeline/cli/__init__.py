"""The ``kb`` command: parse, call, render. No logic of the product lives here."""

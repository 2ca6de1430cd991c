"""One module for each asset or pair of assets."""

"""What the product keeps: files written atomically, the build lock, disposable caches, pages, snapshots, PostgreSQL."""

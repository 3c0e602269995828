"""Self-contained HTML pages and figures, made from panels, tables and claims."""

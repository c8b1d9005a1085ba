"""Make a view's sentences, pictures and tables once, by name; page, notebook, report, bundle and site place them."""

"""What a view shows, made once: sentences, pictures and tables by name; page, notebook, report, bundle and site place them."""

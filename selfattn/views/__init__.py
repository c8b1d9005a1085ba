"""Make each view's sentences, pictures and tables once, for the page, the notebook, the report, the bundle and the site."""

"""Make the panels (finding, picture, tables) that pages, notebooks, reports, downloads and the static site all show."""

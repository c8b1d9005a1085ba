"""Make the panels (finding, picture and tables) of pages, notebooks, reports and downloads."""

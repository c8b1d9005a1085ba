"""Make the panels of pages, notebooks, reports and downloads: finding, picture and tables."""

"""Write pictures and tables to files, with their provenance."""

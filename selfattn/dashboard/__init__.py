"""The only part of the library that imports streamlit: caches, pickers, links, downloads, and how charts are shown."""

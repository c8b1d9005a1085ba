"""What the lesson pages show, one idea a file, so that each page stays a frame."""

"""Reports on trained taggers."""

"""The generated sample corpus."""

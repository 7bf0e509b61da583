"""Answers from experiments: sides of a comparison, points of a search, who loses, and what value will do."""

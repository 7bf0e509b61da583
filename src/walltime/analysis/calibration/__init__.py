"""How far a replay of a log is from the log itself: by group, why, and one figure of trust, kept beside a site."""

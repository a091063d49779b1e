"""The published figures again, from runs of this package, beside the published values."""

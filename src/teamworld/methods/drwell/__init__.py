"""DR. WELL: agents negotiate who does what, plan alone, and learn from a shared symbolic world model."""

"""Planning on the rules that everybody knows: simulate a plan, allocate goals, estimate steps."""

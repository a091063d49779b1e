"""CaPo: a meta-plan for the team, drafted by a designer, discussed with evaluators, and revised on new progress."""

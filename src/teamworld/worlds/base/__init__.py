"""What several worlds share: the executor of macro-actions, views, vector environments, options and beliefs."""

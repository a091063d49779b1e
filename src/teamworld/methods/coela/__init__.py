"""COELA: every agent decides for itself whether to act or to tell the others something; telling costs the step."""

"""Zero-shot: every agent takes the task nearest to done and plans alone, with no talk and no memory."""

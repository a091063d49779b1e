"""The world's scripted team as a method: the upper reference row of every table."""

"""What figures and users ask of a trace; it reads columns and never runs anything."""

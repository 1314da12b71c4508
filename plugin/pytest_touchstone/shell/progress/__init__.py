"""What is under way, in one live line: for a person at a terminal, and for nobody else."""

"""The journal: entries, the chain that ties them, what they add up to, and what is made of them: checks and exports."""

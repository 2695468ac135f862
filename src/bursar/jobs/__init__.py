"""Floor 4, jobs: account, plan, and what they share: reports and written forms."""

"""The ends of the chains, kept outside the database: how a copy that is behind, or beside, is found out."""

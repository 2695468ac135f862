"""How entries become durable: one transaction for many requests, and who is told afterwards."""

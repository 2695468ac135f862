"""What tests share: examples, oracles, hands, places; no test is imported by another."""

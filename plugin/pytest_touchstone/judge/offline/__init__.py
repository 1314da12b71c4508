"""A judge of rules: no key, no network, the same verdict for the same text on every machine."""

"""Servers on loopback that speak the wire formats of the real ones."""

"""Rules over Python."""

"""What goes between the judge's process and a session: requests, events, their models, transport and check."""

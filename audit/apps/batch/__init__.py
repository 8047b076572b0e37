"""Many audits left running, on this machine or on Ray, and screening funnels; `docs/batch.md` has states and codes."""

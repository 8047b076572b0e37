"""The published Python of an imported claim: it is loaded for the sizes asked, on tensors that seem to lie on a GPU,
and computed in float64 or counted."""

"""The published Python of an imported claim: it is loaded for the sizes asked, and computed in float64 or counted."""

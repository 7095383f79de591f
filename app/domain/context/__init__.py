"""What lies on the model's workbench: sections, within a number of tokens, in an order."""

"""The theorems as formulas, the constants of a problem with their origin, and plans made from both."""

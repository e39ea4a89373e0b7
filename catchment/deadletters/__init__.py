"""Dead letters: what could not be taken further, why, and how it is sent again."""

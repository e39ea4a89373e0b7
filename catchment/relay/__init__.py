"""Sites to centre: what is on a site's topics comes to the centre's topics of the same name, exactly once."""

"""What boosting lowers, measured at scores and along a line from them."""

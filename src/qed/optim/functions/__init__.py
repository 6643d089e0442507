"""What is minimised: objectives, losses, penalties, their derivatives, gaps and checks."""

"""What the commands of ``qed`` do, apart from reading arguments and printing: each a function that gives a plain result."""

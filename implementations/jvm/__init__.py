"""Java's classes as subjects: their jars, the machine that runs them, stand-ins, and what is held of them."""

"""What trains the networks, and needs torch: lessons, losses, the loop, checkpoints, measuring."""

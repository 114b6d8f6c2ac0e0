"""All that trains the encoder and needs torch: the network, lessons, the loop, files, figures."""

"""The pretrained encoder, which runs without torch: pieces, batches, inference, decoding, files."""

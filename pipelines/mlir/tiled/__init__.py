"""Fast CPU code from linalg on tensors: channels last, tile, fuse, vectorize, bufferize."""

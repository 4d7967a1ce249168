"""What `make bench` measures. Ratios in one run, interleaved, medians, warm-up excluded."""

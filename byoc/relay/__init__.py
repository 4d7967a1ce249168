"""From Relay to the array: patterns, legality, partition, and the code generator `relay.ext.systolic`."""

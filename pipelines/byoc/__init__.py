"""The route to a systolic array by TVM's bring-your-own-codegen: regions on the array, the rest on the host."""

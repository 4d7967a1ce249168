"""AutoTVM: the templates that TVM's own schedules are written as, with other values for their knobs."""

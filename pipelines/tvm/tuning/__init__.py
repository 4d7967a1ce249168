"""Schedules found by search: Ansor, AutoTVM and MetaSchedule for the TVM route."""

"""Schedules found by search for the Relax route."""

"""Ansor: TVM's search for schedules without templates (auto_scheduler)."""

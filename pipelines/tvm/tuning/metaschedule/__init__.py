"""MetaSchedule: schedules made by rules from the loop nests themselves, chosen by evolution and a cost model."""

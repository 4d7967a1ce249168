"""An artefact that can run."""

from abc import ABC, abstractmethod

from workbench.core.source import Arrays


class Executable(ABC):
    """A compiled model, called with its inputs by name and giving its outputs by name."""

    @abstractmethod
    def __call__(self, inputs: Arrays) -> Arrays:
        """Run once. Raises UsageError when an input is missing or has another shape or dtype."""

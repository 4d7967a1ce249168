"""The Relax route."""

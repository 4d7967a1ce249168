"""Abstractions shared by every route. Nothing here imports a compiler or torch."""

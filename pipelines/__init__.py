"""Routes from a model to the machine: importers, then one package a route."""

"""The contracts, each in a package of its own; see :mod:`~broker_tck.properties.engine.registry`."""

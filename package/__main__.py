"""``python -m broker_tck`` is ``broker-tck``."""

from broker_tck.cli.main import main

if __name__ == "__main__":
    main()

"""The folders at the top are the subpackages of one package, `broker_tck`; all else is in pyproject.toml.

What the package has besides them, its version and `python -m broker_tck`, is in `package`.
"""

import shutil

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

FOLDERS = ("model", "implementations", "properties", "fixtures", "spark_fuzz", "bench", "cli")


class FreshBuild(build_py):
    """Build from an empty directory, so that no module that was renamed or removed stays in a later wheel."""

    def run(self) -> None:
        """Build what the folders hold now."""
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


setup(
    cmdclass={"build_py": FreshBuild},
    package_dir={"broker_tck": "package"} | {f"broker_tck.{folder}": folder for folder in FOLDERS},
    packages=["broker_tck"]
    + [f"broker_tck.{package}" for folder in FOLDERS for package in find_packages(include=[folder, f"{folder}.*"])],
)

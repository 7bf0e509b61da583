"""Shares from a file."""

from __future__ import annotations

import pytest

from walltime.core.errors import InputError
from walltime.scenario import load, parse
from walltime.scenario.reading.shares import read_shares


def test_a_file_tells_a_name_and_a_number_in_each_line(tmp_path):
    path = tmp_path / "shares.txt"
    path.write_text("# who\tshares\nann 3\nbo, 1.5  # half of ann\n\ncy:0\n")
    assert read_shares(path) == {"ann": 3.0, "bo": 1.5, "cy": 0.0}
    cluster = {"cores": 4, "shares": str(path), "scheduler": {"order": "fairshare"}}
    scenario = parse({"workload": {"generate": {"jobs": 5, "cores": 4}}, "cluster": cluster})
    assert dict(scenario.clusters[0].shares) == {"ann": 3.0, "bo": 1.5, "cy": 0.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ann\n", r"shares\.txt:1: a line of shares is a name and a number"),
        ("ann 1\nann 2\n", r"shares\.txt:2: the name has shares already"),
        ("ann much\n", r"shares\.txt:1: shares are a number from 0"),
        ("ann -1\n", r"shares\.txt:1: shares are a number from 0"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, text, message):
    path = tmp_path / "shares.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_shares(path)
    scenario = tmp_path / "s.yaml"
    scenario.write_text(f"workload: {{generate: {{jobs: 5, cores: 4}}}}\ncluster: {{cores: 4, shares: {path}}}\n")
    with pytest.raises(InputError, match=message):
        load(scenario)

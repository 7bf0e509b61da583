"""Nodes by name and property; what was asked once is remembered, and not beyond the nodes that it was asked of."""

import pytest

from walltime.cluster.nodes import Layout, NodeGroup
from walltime.core.errors import InputError
from walltime.scenario.cluster import Cluster

LAYOUT = Layout((NodeGroup(count=3, cores=4, name="c[1-3]", features=("ib",)), NodeGroup(count=2, cores=8, name="g")))


def test_nodes_are_found_again():
    for _ in range(2):
        assert LAYOUT.select(["c[2-3]", "g1"]).tolist() == [False, True, True, False, True]
        assert LAYOUT.select(["g"]).tolist() == [False, False, False, True, True]
        assert LAYOUT.with_property("ib").tolist() == [True, True, True, False, False]
        assert LAYOUT.with_property("c2").tolist() == [False, True, False, False, False]
        assert not LAYOUT.with_property("x").any()
        with pytest.raises(InputError, match="no node or group"):
            LAYOUT.select(["c[3-4]"])


def test_what_is_given_may_be_changed():
    LAYOUT.select(["g"])[:] = True
    assert LAYOUT.select(["g"]).tolist() == [False, False, False, True, True]


def test_a_copy_with_other_nodes_has_another_layout():
    cluster = Cluster(nodes={"count": 2, "cores": 4})
    assert cluster.layout() is cluster.layout()
    other = cluster.model_copy(update={"nodes": Cluster(nodes={"count": 3, "cores": 4}).nodes})
    assert (cluster.layout().count, other.layout().count) == (2, 3)
    assert cluster.model_copy().layout() is cluster.layout()
    assert cluster == Cluster(nodes={"count": 2, "cores": 4})

"""Cores of running jobs on their nodes, of which only the nodes and the sums are told."""

from hypothesis import given
from hypothesis import strategies as st

from walltime.scenario.spreading import spread


def test_what_has_room_in_equal_parts_is_left_alone():
    assert spread([4, 7], [(0, 1), (2, 3)], dict.fromkeys(range(4), 4)) is None


def test_cores_move_over_other_jobs_to_where_there_is_room():
    room = dict.fromkeys(range(3), 4)
    assert spread([6, 5], [(0, 1), (1, 2)], room) == [{0: 4, 1: 2}, {1: 2, 2: 3}]


def test_more_than_there_is_has_no_division():
    assert spread([6, 7], [(0, 1), (1, 2)], dict.fromkeys(range(3), 4)) is None
    assert spread([4, 2, 2], [(0,), (0, 1), (1,)], {0: 4, 1: 4}) is None  # the second has none on the first


@given(
    st.lists(
        st.dictionaries(st.integers(0, 5), st.integers(1, 8), min_size=1, max_size=4),
        min_size=1,
        max_size=12,
    ),
    st.integers(0, 3),
)
def test_where_some_division_has_room_one_is_found(shares, more):
    """The machine is as large as what some division needs, and somewhat larger."""
    room = {node: more + sum(share.get(node, 0) for share in shares) for node in range(6)}
    sums, nodes = [sum(share.values()) for share in shares], [tuple(share) for share in shares]
    found = spread(sums, nodes, room)
    if found is None:
        each = [divmod(total, len(mine)) for total, mine in zip(sums, nodes, strict=True)]
        found = [
            {node: size + (place < rest) for place, node in enumerate(mine)}
            for (size, rest), mine in zip(each, nodes, strict=True)
        ]
    assert [sum(share.values()) for share in found] == sums
    assert [set(share) for share in found] == [set(mine) for mine in nodes]
    assert min(min(share.values()) for share in found) >= 1
    assert all(sum(share.get(node, 0) for share in found) <= room[node] for node in room)

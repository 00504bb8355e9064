"""One material for flexible members and elastic bodies."""

from __future__ import annotations

import pytest

from bellcrank import elastic, flexible
from bellcrank.errors import ModelError


def test_both_rooms_share_one_material_whose_numbers_have_names():
    assert elastic.Material is flexible.Material
    for numbers in ((2e11, 7850.0), (2e11, 0.3, 7850.0)):
        with pytest.raises(ModelError, match="density and Poisson's ratio by name"):
            flexible.Material(*numbers)


def test_a_flexible_member_refuses_the_damping_of_a_material():
    damped = flexible.Material(2e11, density=7850.0, stiffness_damping=1e-4)
    with pytest.raises(ModelError, match="'rod' is a flexible member"):
        flexible.beam("rod", 0.3, flexible.circle(0.01), damped, 4)

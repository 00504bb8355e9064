"""Names of array types."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Sparse = Any
"""A SciPy sparse matrix or array; their types do not agree between versions."""

"""Where a function passes zero, told from the far side."""

from __future__ import annotations

import math
from collections.abc import Callable

MOST = 200


def crossing(function: Callable[[float], float], begin: float, end: float, tolerance: float) -> float:
    """A place in ``begin`` .. ``end`` where ``function`` is above zero, no more than ``tolerance`` after it is not.

    It must be above zero at the end and is taken not to be at the begin, where it may be minus infinity.
    False position in the Illinois variant (Dowell and Jarratt, BIT 11, 1971), with a bisection where that stalls.
    """
    low, high = float(function(begin)), float(function(end))
    if low > 0.0:
        return begin
    for count in range(MOST):
        if end - begin <= tolerance:
            break
        share = high / (high - low) if math.isfinite(low) and high > low else 0.5
        place = end - (0.5 if count % 3 == 2 else min(max(share, 0.0), 1.0)) * (end - begin)
        place = min(max(place, begin + 0.5 * tolerance), end - 0.5 * tolerance)
        value = float(function(place))
        if value > 0.0:
            end, high = place, value
            low *= 0.5
        else:
            begin, low = place, value
            high *= 0.5
    return end

"""The tree of a system: parents, children and an order from base to tips (Huston and Liu's lower bodies)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mbdy.engine.model.system import INERTIAL, Model

ROOT = -1


@dataclass(frozen=True)
class Tree:
    """``parent[i]`` is the place of body ``i``'s parent in ``model.bodies``, or `ROOT` for inertial."""

    parent: tuple[int, ...]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Places of the bodies that hang on each body."""
        below: list[list[int]] = [[] for _ in self.parent]
        for body, parent in enumerate(self.parent):
            if parent != ROOT:
                below[parent].append(body)
        return tuple(map(tuple, below))

    @cached_property
    def outward(self) -> tuple[int, ...]:
        """Bodies from base to tips: each after its parent."""
        order: list[int] = []
        waiting = [i for i in reversed(range(len(self.parent))) if self.parent[i] == ROOT]
        while waiting:
            body = waiting.pop()
            order.append(body)
            waiting.extend(reversed(self.children[body]))
        return tuple(order)

    @property
    def inward(self) -> tuple[int, ...]:
        """Bodies from tips to base: each after all its children."""
        return self.outward[::-1]

    @cached_property
    def root(self) -> tuple[int, ...]:
        """Of each body the one at the base of its branch."""
        found = list(range(len(self.parent)))
        for body in self.outward:
            if self.parent[body] != ROOT:
                found[body] = found[self.parent[body]]
        return tuple(found)

    def path(self, body: int) -> tuple[int, ...]:
        """Bodies from ``body`` (included) to its root."""
        steps = [body]
        while (parent := self.parent[steps[-1]]) != ROOT:
            steps.append(parent)
        return tuple(steps)


def tree(model: Model) -> Tree:
    """The tree of ``model``, whose joints must name existing parents without a cycle (the reader sees to it)."""
    return Tree(tuple(ROOT if b.joint.to == INERTIAL else model.index[b.joint.to] for b in model.bodies))

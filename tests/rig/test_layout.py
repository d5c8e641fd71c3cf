"""Packets as C, NumPy and the port table have them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from mbdy.blocks.rig.layout import CONSTANTS, HEADER, PacketLayout
from mbdy.blocks.rig.layout_text import KINDS, c_header, numpy_module
from mbdy.engine import loads, ports

NAMESAKES = """
mbdy = 1
name = 'a \"\"\"quoted\\\"\"\" */ name'
[system]
gravity = [0, 0, -9.81]
[body.a]
mass = 10
com = [0, 0, 0]
inertia = [1, 1, 1]
joint = { to = "inertial", kind = "free" }
[body.a.node.b]
at = [1, 0, 0]
[body.a_b]
mass = 1
com = [0, 0, 0]
inertia = [0.1, 0.1, 0.1]
joint = { to = "a", kind = "revolute", axis = [0, 0, 1], at = [1, 0, 0], motion = "switchable" }
"""
"""Of which ``a.b.force`` and ``a_b.force`` are one name to C."""
CHOSEN = NAMESAKES + '[ports]\ninputs = ["a.torque"]\noutputs = ["a.omega", "a_b.joint.*"]\n'
PRINTS = r"""
#include <stddef.h>
#include <stdio.h>
#include "layout.h"
int main(void)
{
    static const double start[] = MBDY_INPUTS_START;
    static const struct mbdy_packet head = MBDY_INPUTS_HEAD;
    struct mbdy_inputs in;
    printf("%016llx", (unsigned long long)MBDY_LAYOUT);
    printf(" %d %d", (int)sizeof(struct mbdy_inputs), (int)sizeof(struct mbdy_outputs));
    printf(" %d", (int)(offsetof(struct mbdy_outputs, a_b_joint_angle)));
    printf(" %.17g %.17g\n", start[0], start[MBDY_INPUTS - 1]);
    in.head = head, in.a_torque[2] = 1.0;
    return in.head.count == MBDY_INPUTS && in.head.layout == MBDY_LAYOUT ? 0 : 1;
}
"""


@pytest.mark.parametrize("text", [NAMESAKES, CHOSEN])
@pytest.mark.parametrize("compiler", [("cc", "-std=c99"), ("c++", "-x", "c++", "-std=c++11")], ids=["C", "C++"])
def test_the_header_has_the_packets_of_numpy(text, compiler, tmp_path):
    if not shutil.which(compiler[0]):
        pytest.skip(f"no {compiler[0]}")
    layout = PacketLayout.of(loads(text))
    (tmp_path / "layout.h").write_text(c_header(layout))
    (tmp_path / "main.c").write_text(PRINTS)
    strict = ("-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror")
    subprocess.run([*compiler, *strict, "main.c", "-o", "main"], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout.split()
    inputs, outputs = (layout.dtype(kind) for kind in KINDS)
    place = outputs.fields["a_b.joint.angle"][1]
    assert said[:4] == [f"{layout.key:016x}", str(inputs.itemsize), str(outputs.itemsize), str(place)]
    start = [value for v in layout.inputs for value in v.start]
    assert [float(value) for value in said[4:]] == [start[0], start[-1]]


@pytest.mark.parametrize("text", [NAMESAKES, CHOSEN])
def test_the_module_needs_numpy_alone_and_says_the_same(text):
    layout = PacketLayout.of(loads(text))
    module: dict[str, object] = {}
    exec(numpy_module(layout), module)
    assert module["LAYOUT"] == layout.key
    assert [module[kind.upper()] for kind in KINDS] == [layout.dtype(kind) for kind in KINDS]
    assert module["UNITS"] == {v.name: v.units for v in (*layout.inputs, *layout.outputs)}
    assert module["START"] == {v.name: v.start for v in layout.inputs}
    assert module["FLAG_LATE"] == CONSTANTS["MBDY_FLAG_LATE"]


def test_doubles_lie_as_in_the_vectors_of_the_plant():
    model = loads(NAMESAKES)
    layout, table = PacketLayout.of(model), ports(model)
    for kind, names in (("inputs", table.input_names), ("outputs", table.output_names)):
        begin, record = CONSTANTS["MBDY_PACKET_HEADER"], layout.dtype(kind)
        assert np.dtype([*HEADER]).itemsize == begin
        assert record.itemsize == begin + 8 * len(names)
        for v in layout.variables(kind):
            assert names[v.offset : v.offset + v.size] == v.scalar_names
            assert record.fields[v.name][1] == begin + 8 * v.offset


def test_a_new_packet_is_complete_and_leaves_the_model_as_it_is():
    packet = PacketLayout.of(loads(NAMESAKES)).packet("inputs")
    assert packet.tobytes()[:4] == b"MBDY"
    assert (packet["version"], packet["kind"], packet["count"]) == (1, 1, 26)
    assert packet["system.gravity"][0].tolist() == [0.0, 0.0, -9.81]


def test_the_key_changes_with_all_that_both_sides_must_agree_on():
    layout = PacketLayout.of(loads(NAMESAKES))
    first, *others = layout.inputs
    keys = {
        layout.key,
        PacketLayout.of(loads(CHOSEN)).key,
        PacketLayout.of(loads(NAMESAKES.replace("mass = 10", "mass = 11"))).key,
        replace(layout, inputs=(replace(first, units=("lbf",) * first.size), *others)).key,
        replace(layout, inputs=(*others, first)).key,
        replace(layout, inputs=layout.inputs[:-1], outputs=layout.outputs).key,
    }
    assert len(keys) == 6
    assert PacketLayout.of(loads(NAMESAKES)).key == layout.key


def test_layouts_are_for_systems_without_rigs_too():
    script = "import sys; sys.modules['fcntl'] = None; import mbdy.app.rig, mbdy.blocks.rig"
    path = os.pathsep.join(filter(None, sys.path))
    subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path}, check=True)

"""FMI 3.0 inside a step and between steps: intermediate updates, early return, event mode of co-simulation."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

from flavours import Flavour
from fmu.client import DISCARD, ERROR, Client3, answers, described, only
from mbdy.blocks import Plant

pytestmark = only([Flavour("native", "3.0")])

H = 0.01
"""[s] Ten internal steps."""


class Watcher(Client3):
    """A client whose function ``between(client, time, final)`` is called inside steps; it returns when to end one."""

    def __init__(self, fmu: Path, folder: Path, between=None, *, events: bool = False, required=()) -> None:
        self.between, self.events, self.required, self.calls = between, events, required, []
        super().__init__(fmu, folder)

    def _instance(self, folder: Path, logging: bool):
        made = self.made_of(**self._names(folder))
        made.instantiate(
            logMessage=lambda _environment, status, category, message: self._log(status, category, message),
            intermediateUpdate=self._update if self.between else None,
            eventModeUsed=self.events, earlyReturnAllowed=True, requiredIntermediateVariables=self.required,
        )  # fmt: skip
        return made

    def _update(self, _environment, time, set_requested, get_allowed, finished, may_return, requested, when) -> None:
        assert get_allowed
        assert finished
        self.calls.append((time, bool(set_requested), bool(may_return)))
        end = self.between(self, time, not may_return)
        if end is not None:
            requested[0], when[0] = True, end


@pytest.fixture
def watching(fmu, tmp_path):
    clients = []

    def make(between=None, **options) -> Watcher:
        clients.append(Watcher(fmu, tmp_path / "unpacked", between, **options))
        return clients[-1]

    yield make
    for client in clients:
        client.fmu.freeInstance()


def test_watching_a_step_changes_no_bit(watching, model):
    seen = []
    client = watching(lambda c, time, final: seen.append((time, c["time"], c["bus.omega[1]"]))).initialize()
    plant = Plant(model)
    for _ in range(5):
        client["panel.joint.torque"] = plant["panel.joint.torque"] = 0.4
        client.step(H)
        np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.step(H).values)
    times = [time for time, *_ in client.calls]
    np.testing.assert_allclose(times, 1e-3 * np.arange(1, 51), rtol=1e-12)
    assert [now for _, now, _ in seen] == times
    assert [flags for _, *flags in client.calls[:10]] == [[True, True]] * 9 + [[False, False]]
    fine = Plant(model)
    fine["panel.joint.torque"] = 0.4
    for _, _, omega in seen:
        assert omega == pytest.approx(fine.step(1e-3)["bus.omega"][0], rel=1e-12, abs=1e-15)


def test_required_variables_that_are_not_there_are_refused(watching, fmu, tmp_path):
    place = {v.name: v.valueReference for v in described(fmu).modelVariables}
    watching(required=[place["bus.omega"], place["panel.joint.torque"]])
    for absent, words in ((9999, "there is no value reference 9999"), (place["bus.omega"] + 1, "is 'bus.omega[2]'")):
        client = Watcher.__new__(Watcher)
        with pytest.raises(Exception, match="instantiate"):
            client.__init__(fmu, tmp_path / "unpacked", required=[place["bus.omega"], absent])
        assert words in client.last


def test_inputs_set_inside_a_step_act_from_there(watching, model):
    def ramp(client, time, final) -> None:
        if not final:
            client["panel.joint.torque"] = 50.0 * time

    client, fine = watching(ramp).initialize(), Plant(model)
    client.step(H)
    for i in range(10):
        fine["panel.joint.torque"] = 50.0 * 1e-3 * i
        fine.step(1e-3)
    assert client["panel.joint.rate"] == pytest.approx(fine["panel.joint.rate"], rel=1e-12)


def test_a_step_ends_early_where_it_is_asked_to(watching, model):
    client, plant = watching(lambda c, time, final: 0.0038 if time < 0.005 else None).initialize(), Plant(model)
    event, terminate, early, last = client.fmu.doStep(0.0, H)
    assert (event, terminate, early) == (False, False, True)
    assert last == client["time"] == pytest.approx(0.004, rel=1e-12)
    for _ in range(4):
        plant.step(1e-3)
    np.testing.assert_array_equal(client.get(list(plant.output_names)), plant.outputs().values)
    assert client.fmu.doStep(last, H)[2:] == (False, last + H)


@pytest.mark.parametrize("call", ["step", "reset", "saved", "locked", "mass"])
def test_what_does_not_belong_inside_a_step_is_refused(watching, call):
    found = []

    def meddle(client, time, final) -> None:
        with answers(client, ERROR):
            {
                "step": client.step, "reset": client.fmu.reset, "saved": client.saved,
                "locked": lambda: client.fmu.setBoolean([client.place["panel.joint.locked"]], [True]),
                "mass": lambda: client.set_reals([client.place["panel.mass"]], [5.0]),
            }[call]()  # fmt: skip
        found.append(client.last)

    client = watching(meddle).initialize()
    client.step(H)
    assert len(found) == 10
    assert all("inside a step" in said or "may jump only at events" in said for said in found)
    client.reset()
    client.initialize()


def test_a_fault_inside_a_step_gives_the_begin_back(watching):
    def spoil(client, time, final) -> None:
        with suppress(FMICallException):  # refused, and to leave alone where the step began
            client["panel.joint.locked"] = True
        if time > 0.004:
            with suppress(FMICallException):
                client["panel.joint.torque"] = float("nan")

    client = watching(spoil).initialize()
    before = client.outputs()
    told = len(client.said)
    with pytest.raises(FMICallException) as caught:
        client.fmu.doStep(0.0, H)
    assert caught.value.status == DISCARD
    assert len(client.said) > told
    assert "'panel.joint.torque'" in client.last
    assert client["time"] == 0.0
    np.testing.assert_array_equal(client.outputs(), before)


def test_event_mode_of_co_simulation(watching, model):
    client, plant = watching(events=True).initialize(), Plant(model)
    client.fmu.updateDiscreteStates()
    client.fmu.enterStepMode()
    for _ in range(5):
        client.step(H)
        plant.step(H)
    client.fmu.enterEventMode()
    with answers(client, ERROR, "in event mode"):
        client.step(H)
    client["panel.joint.locked"], plant["panel.joint.locked"] = True, True
    moving = client["panel.joint.rate"]
    assert client.fmu.updateDiscreteStates()[0] is False
    assert abs(client["panel.joint.rate"]) < 1e-14 < abs(moving)
    client.fmu.enterStepMode()
    client.step(H)
    names = [name for name in plant.output_names if not name.endswith(".impulse")]
    seen = plant.step(H)  # the plant latches within this step and shows the impulse after it
    np.testing.assert_array_equal(client.get(names), [seen[name] for name in names])


def test_event_mode_needs_to_be_asked_for(watching):
    client = watching().initialize()
    with answers(client, ERROR, "without event mode"):
        client.fmu.enterEventMode()

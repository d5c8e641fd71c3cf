"""What nobody should give a command: odd files as models and tables, odd values of options."""

from __future__ import annotations

from collections.abc import Mapping

from bad_models import BAD_MODELS, bars, beam, boom, bus, hinged

GOOD = hinged()


def files() -> Mapping[str, bytes]:
    """Files that are no models, or odd ones, by name; those of `BAD_MODELS` too."""
    odd: dict[str, bytes] = {
        "empty": b"",
        "nul": b"\0" * 100,
        "blank": b"\n \r\n\t\n",
        "utf16": GOOD.encode("utf-16"),
        "utf16-without-mark": GOOD.encode("utf-16-le"),
        "utf32": GOOD.encode("utf-32"),
        "latin1": bus('name = "fl\xe8che"').encode("latin-1"),
        "shift-jis": bus('name = "\u885b\u661f"').encode("shift-jis"),
        "two-marks": b"\xef\xbb\xbf\xef\xbb\xbf" + GOOD.encode(),
        "carriage": GOOD.replace("\n", "\r").encode(),
        "binary": bytes(range(256)) * 20,
        "zip": b"PK\x03\x04" + bytes(100),
        "html": b"<!DOCTYPE html><html><body>404</body></html>",
        "json": b'{"mbdy": 1, "body": {}}',
        "yaml": b"mbdy: 1\nbody:\n  bus:\n    mass: 1\n",
        "csv": b"time,bus.torque[1]\n0,1\n",
        "deep-headers": b"mbdy = 1\n[" + b".".join([b"a"] * 500) + b"]\n",
        "deeper-headers": b"mbdy = 1\n[" + b".".join([b"a"] * 20_000) + b"]\n",
        "deep-lists": b"mbdy = " + b"[" * 400 + b"]" * 400,
        "deep-tables": b"mbdy = " + b"{a=" * 300 + b"1" + b"}" * 300,
        "long-name": f"mbdy = 1\n[body.{'a' * 5000}]\n".encode(),
        "long-text": bus(f'name = "{"b" * 100_000}"').encode(),
        "long-number": f"mbdy = 1\nname = {'9' * 6000}".encode(),
        "long-line": b"mbdy = 1 #" + b"x" * 1_000_000,
        "many-bodies-none": b"mbdy = 1\n" + b"".join(b"[body.b%d]\n" % k for k in range(300)),
        "escape": bus('name = "\\u001b[31mred\\u0007"').encode(),
        "override": bus('name = "\\u202egnp.exe"').encode(),
        "surrogate": b'mbdy = 1\nname = "\xed\xa0\x80"',
        "date": b"mbdy = 1979-05-27\n",
        "infinite": GOOD.replace("mass = 10", "mass = inf").encode(),
        "array-of-bodies": b"mbdy = 1\n[[body]]\nmass = 1\n",
        "empty-arrays": hinged("at = []", "rest = []", "stiffness = []").encode(),
        "empty-loop": bars("rows = []", kind='kind = "rows"').encode(),
        "loop-on-itself": bars().replace('b = "rocker.tip"', 'b = "coupler.end"').encode(),
        "loop-nowhere": bars().replace('"rocker.tip"', '""').encode(),
        "dots": bars().replace('"rocker.tip"', '"."').encode(),
        "beam-of-no-modes": beam().replace("modes = 1", "modes = []").encode(),
        "beam-of-many-modes": beam().replace("modes = 1", "modes = 999999999999").encode(),
        "flex-of-nothing": boom(frequencies="[]").encode(),
    }  # fmt: skip
    for sort, name in {"folder": ".", "itself": "odd.toml", "zero-byte": "a\\u0000b", "long": "f" * 3000}.items():
        odd[f"file-{sort}"] = bus(f'[body.f]\njoint = {{ to = "bus" }}\nflex = {{ file = "{name}" }}').encode()
    return odd | {f"bad-{name}": text.encode() for name, text, _, _ in BAD_MODELS}


def tables() -> Mapping[str, bytes]:
    """Input tables that cannot be taken."""
    return {
        "empty": b"",
        "nul": b"time,bus.torque[1]\n0,\0\n",
        "utf16": "time,bus.torque[1]\n0,1\n".encode("utf-16"),
        "latin1": b"time,bus.torque[1]\n0,\xe8\n",
        "semicolons": b"time;bus.torque[1]\n0;1,5\n",
        "tabs": b"time\tbus.torque[1]\n0\t1\n",
        "decimal-commas": b"time,bus.torque[1]\n0,1,5\n",
        "quoted-commas": b'time,bus.torque[1]\n0,"1,5"\n',
        "header-alone": b"time,bus.torque[1]\n",
        "no-time": b"bus.torque[1]\n1\n",
        "twice": b"time,bus.torque[1],bus.torque[1]\n0,1,2\n",
        "short-row": b"time,bus.torque[1]\n0\n",
        "words": b"time,bus.torque[1]\n0,one\n",
        "not-finite": b"time,bus.torque[1]\n0,nan\n",
        "backwards": b"time,bus.torque[1]\n0,1\n-1,2\n",
        "long-field": b"time,bus.torque[1]\n0," + b"1" * 200_000 + b"\n",
        "long-name": b"time," + b"b" * 5000 + b"\n0,1\n",
        "quote": b'time,"bus.torque[1]\n0,1\n',
        "unknown": b"time,bus.torqe[1]\n0,1\n",
        "output": b"time,bus.omega[1]\n0,1\n",
    }  # fmt: skip


ANY = {
    "missing": "missing.toml", "folder": ".", "no-name": "", "zero-byte": "a\0b.toml", "long": "a" * 3000,
    "surrogate": "a\udc80.toml", "under-a-file": "good.toml/x.toml",
}  # fmt: skip
"""Paths of models that are none."""
OPTIONS: Mapping[str, list[list[str]]] = {
    "simulate": [
        *(["--step", text] for text in ("nan", "0", "-1", "inf", "", "1 kg", "1e-300", "one", "1/60", "1e400", "\0")),
        *(["--until", text] for text in ("nan", "-1", "0", "inf", "", "1 m", "1e300", "now")),
        *(["--every", text] for text in ("nan", "-1", "0", "inf", "x", "")),
        *(["--set", text] for text in (
            "x=", "=", "", "x", "bus.torque", "bus.torque=", "bus.torque=1", "bus.torque=[1,2]", "bus.torque=[1,2,3",
            "bus.torque=nan", "bus.torque[1]=1e400", "bus.torque[9]=1", "bus.torque[-1]=1", "bus.torque[0]=1",
            "bus.torqe=1",
            "bus.mass=-1", "bus.mass=0 m", "bus.omega=[[[1]]]", "bus.attitude=[0,0,0,0]", "system=1",
            "bus.inertia=[1,1]", "panel.joint.angle=" + "[" * 5000, "bus.mass=\0", "bus.mass=" + "9" * 5000,
            "a" * 5000 + "=1",
        )),
        ["--set", "bus.mass=11", "--set", "bus.mass=12"],
        ["--set", "bus.omega=[1,0,0]", "--set", "bus.omega[1]=2"],
        *(["--outputs", text] for text in ("", "nothing", "*[", ",,", "\0", "[" * 500)),
        *(["--input", text] for text in ("missing.csv", ".", "", "\0", "good.toml")),
        *(["-o", text] for text in (".", "", "a\0b", "good.toml", "x" * 3000, "good.toml/x.csv", "run.html")),
        *(["--report", text] for text in (".", "a\0b", "good.toml", "x" * 3000, "run.csv")),
        ["--linear"],
        ["--integrator", "euler"],
        ["--integrator", ""],
        ["--nonsense"],
        ["-o", "same.csv", "--report", "same.csv"],
    ],
    "linearize": [
        ["--set", "x="], ["--at", "x="], ["--at", "bus.mass=-1"], ["--inputs", "nothing"], ["--outputs", "nothing"],
        ["--inputs", "["], ["--free", "bus.*"], ["--hold", "x"], ["--trim", "--free", "nothing"],
        ["--trim", "--hold", "nothing"],
        ["--step", "nan"], ["--step", "-1"], ["-o", "lin.txt"], ["-o", "."], ["-o", "a\0b.npz"],
        ["-o", "x" * 3000 + ".npz"],
        ["--set", "bus.omega=[1e300,0,0]"], ["--trim", "--set", "x"],
    ],
    "verify": [
        ["--states", "-1"], ["--states", "x"], ["--seed", "-1"], ["--seed", "1.5"], ["--report", "."],
        ["--report", "a\0b.md"],
        ["--report", "good.toml"], ["--report", "x" * 3000], ["--states", "nan"],
    ],
    "fmu": [
        ["--fmi", "9"], ["--fmi", ""], ["--kind", "x"], ["--platform", "mars"], ["--platform", ""], ["--dynamics", "x"],
        ["--step", "nan"], ["--step", "-1"], ["--integrator", "x"], ["-o", "."], ["-o", "a\0b.fmu"],
        ["-o", "good.toml"],
        ["-o", "x" * 3000], ["-o", "f.txt"],
    ],
    "ssp": [
        ["--controller", "missing.fmu"], ["--controller", "."], ["--controller", "good.toml"], ["--controller", "a\0b"],
        ["--controller", "c.fmu", "--connect", "x"], ["--controller", "c.fmu", "--connect", "=", "--connect", ""],
        ["--controller", "c.fmu", "-o", "."], ["--controller", "c.fmu", "--step", "nan"], ["--controller", ""], [],
        ["--controller", "c.fmu", "--kind", "x"], ["--controller", "c.fmu", "--outputs", "nothing"],
    ],
    "check": [["--nonsense"], ["second.toml"]],
}  # fmt: skip
"""Options of commands on a good model, after whose name they come, that cannot be taken."""
ALONE: list[list[str]] = [
    ["new"], ["new", ""], ["new", "."], ["new", "a\0b"], ["new", "x" * 3000], ["new", "good.toml"],
    ["new", "good.toml/x"],
    ["new", "\udc80"], ["cache", "--nonsense"], ["cache", "x"], ["demo", "--folder", "good.toml"],
    ["demo", "--folder", "a\0b"],
    ["nonsense"], ["check"], ["simulate"], ["--nonsense"],
]  # fmt: skip
"""Commands that need no model."""

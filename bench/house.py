"""What the sources are held to, counted: ``python bench/house.py``.

Lines of the four rooms, class names used twice, and how many files know the name of one integrator, law, output or
version of FMI, which are the files that a further one of its kind would have to touch. A file knows a name that stands
in its code: in an identifier, a text or a file name that it includes, or as its own name. Comments and docstrings are
listed beside the count, since they go stale and break nothing.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("engine", "blocks", "fmu_src", "app")
ENDINGS = (".py", ".c", ".h")
STANDARDS = "headers"
"""The folder of the headers that the FMI standard gives."""
SECOND_OPINIONS = ROOT / "engine/mbdy/engine/verification/formulations"
"""Independent copies: they share no code with the engine, so a law has a second file here."""
LINES = 32_300
"""The four rooms had as many when they were first counted, with what the first release could do."""
BUILT_SINCE = {
    "outputs that are not finite, threads, whole files, signals, what controllers give, the folder of cores": 360,
    "loops that close right or are refused, guesses, short levers, momenta of closings": 700,
    "what the step cannot follow, friction at any slope": 720,
    "system.work_error": 350,
    "faults by cause, lines of files, trim from far": 560,
    "gravity gradient of nodes and flexible bodies": 90,
    "reduced bodies: rigid shares of nodes, interfaces, numbers": 490,
    "FMUs: names that link, sparse dependencies, nominals, events": 420,
    "readers that believe no file, limits": 400,
    "files read once, evidence, standard streams, pages": 480,
    "numbers of any type, one base of errors, what shows itself": 490,
    "records, logged signals, states in files": 450,
    "letters that act, formats, odd options": 200,
    "work error in model exchange, friction of linear plants, bends, overflows": 400,
    "schedules of shared kernels": 840,
    "models made in Python, what controllers forget, errors of writing": 590,
    "resumed runs, slips in TOML, springs of the fastest mode": 230,
    "derivatives: coefficients once, then linear schedules": 620,
    "frames along joints, proximal steps without their matrix": 460,
    "elementary functions with the same bits everywhere": 380,
    "many runs at once, in lanes": 1110,
    "files that go to the compiler together": 250,
    "tables of FMUs, folded": 100,
    "rigs: packets in C and NumPy, what machines are like, figures, pages, recordings, ZeroMQ": 1700,
    "steps by a tolerance, events in them, what acts by itself": 1210,
    "outputs of one's choosing": 650,
    "wheels as rotors: angle, imbalance, harmonics, starts by momentum": 390,
    "springs of spherical joints": 200,
    "profiles in model files": 420,
    "spellings: places and axes on the outboard body, entries of inertia, defaults": 440,
    "gears, rotors of motors": 1080,
    "rigs: the loop in C, its keepers, packets that act, faults on purpose": 2370,
    "springs and contacts between bodies": 1660,
    "tanks": 1480,
    "friction that sticks": 970,
}
"""Lines that capabilities took which were not there then."""
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


@dataclass(frozen=True)
class Kind:
    """Something that is to be added by touching at most ``limit`` files, and ``second`` second opinions.

    ``names`` are patterns of those that are there, one of which stands for each; the one that most files know counts.
    """

    what: str
    names: Mapping[str, str]
    limit: int
    second: int = 0


KINDS = (
    Kind("integrator", {"euler-cromer": r"euler[-_ ]?cromer", "rosenbrock": r"rosenbrock|rodasp"}, limit=2),
    Kind("law of effort", {"harness": r"harness"}, limit=1, second=1),
    Kind("output", {"specific_force": r"specific_forces?"}, limit=2),
    Kind("version of FMI", {"3.0": r"fmi[-_ ]?3|pythonfmu3|^3\.0$"}, limit=4),
)


def sources() -> list[Path]:
    """The files of the four rooms that are ours."""
    found = (path for room in ROOMS for path in sorted((ROOT / room).rglob("*")))
    return [path for path in found if path.suffix in ENDINGS and STANDARDS not in path.parts]


def lines(paths: Sequence[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def repeated_classes() -> dict[str, list[Path]]:
    """Names of classes that stand in more than one file; a second opinion may repeat a name of the engine's."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sources():
        if path.suffix == ".py":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(path)
    repeated = {}
    for name, paths in found.items():
        counted = [path for path in paths if path.is_relative_to(ROOT / "engine")]
        own = [path for path in counted if not path.is_relative_to(SECOND_OPINIONS)]
        others = [path for path in paths if path not in counted]
        different = own + others if own else paths
        if len(different) > 1:
            repeated[name] = different
    return repeated


def knowing(pattern: str) -> tuple[list[Path], list[Path]]:
    """The files whose code has a match of ``pattern``, and those that only speak of it."""
    wanted = re.compile(pattern, re.IGNORECASE)
    code, prose = [], []
    for path in sources():
        text = path.read_text(encoding="utf-8")
        words = _python_words(text) if path.suffix == ".py" else _c_words(text)
        if wanted.search(path.name) or any(wanted.search(word) for word in words):
            code.append(path)
        elif wanted.search(text):
            prose.append(path)
    return code, prose


def _python_words(text: str) -> Iterator[str]:
    """Names and texts of Python, without comments and docstrings."""
    spoken = {
        (node.lineno, node.col_offset)
        for node in (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield token.string
        elif token.type == tokenize.STRING and token.start not in spoken:
            yield str(ast.literal_eval(token.string)) if "f" not in token.string[:2].lower() else token.string
        elif tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            yield token.string


def _c_words(text: str) -> Iterator[str]:
    """The words of C without comments."""
    yield from re.findall(r'"[^"]*"|\w+', C_COMMENT.sub(" ", text))


def short(paths: Sequence[Path]) -> str:
    return ", ".join(str(path.relative_to(ROOT)) for path in paths)


def verdict(count: int, limit: int) -> str:
    return f"{count:>6}  limit {limit:>6}  {'ok' if count <= limit else 'over'}"


def main() -> None:
    """Print the counts."""
    paths = sources()
    print(f"lines of Python and C in {', '.join(ROOMS)}, without the standard's headers")
    print(f"  {verdict(lines(paths), LINES + sum(BUILT_SINCE.values()))}, of which {LINES} are the first release's")
    for what, count in BUILT_SINCE.items():
        print(f"  {count:>6}  since: {what}")
    for room in ROOMS:
        print(f"  {lines([path for path in paths if path.is_relative_to(ROOT / room)]):>6}  {room}")
    repeated = repeated_classes()
    print("class names used twice; a second opinion may repeat the engine's")
    print(f"  {verdict(len(repeated), 0)}")
    for name, places in sorted(repeated.items()):
        print(f"          {name}: {short(places)}")
    for kind in KINDS:
        print(f"files that know one {kind.what} by name")
        for name, pattern in kind.names.items():
            code, prose = knowing(pattern)
            second = [path for path in code if path.is_relative_to(SECOND_OPINIONS)]
            first = [path for path in code if path not in second]
            print(f"  {verdict(len(first), kind.limit)}  {name}: {short(first)}")
            if second or kind.second:
                print(f"  {verdict(len(second), kind.second)}  {name}, second opinion: {short(second)}")
            if prose:
                print(f"  {len(prose):>6}  in comments and docstrings alone: {short(prose)}")


if __name__ == "__main__":
    main()

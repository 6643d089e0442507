"""Attack the reading of CSV files: mutate tables, open them as rows, and fit models to them.

Run it from the root of the project:

    python tools/fuzz_csv.py --files 10000 --seed 7
    python tools/fuzz_csv.py --seconds 60

Whatever happens has to be a success or an error of qed, within two seconds of processor time and 256 MiB. The draws depend on the
seed and the number of the file alone: ``--only NUMBER`` repeats one. The exit status is 1 when something else happened.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tools.fuzz_load import Outcomes, each_file, run

import qed

WORDS = (
    *(
        b"",
        b" ",
        b"nan",
        b"NA",
        b"inf",
        b"-inf",
        b"1e400",
        b"-0",
        b"1_000",
        b"0x1F",
        b"1,5",
        b"\xe9t\xe9",
        b"\xff\xfe",
        b"\x00",
    ),
    *(
        b'"',
        b'""',
        b'"a',
        b'a"b',
        b"'",
        b";",
        b"\t",
        b"\r",
        b"\n",
        b"\r\n",
        b"\n\n",
        b"True",
        b"2020-01-01",
        b"2020-13-45",
    ),
    *(
        b"10" * 30,
        b"x" * 5000,
        b"=1+1",
        b"\xef\xbb\xbf",
        "日本".encode(),
        b"1.",
        b".5",
        b"+3",
        b"--1",
        b"1e",
        b"#",
        b"\\N",
        b"null",
    ),
)


def tables() -> list[bytes]:
    """Make tables of numbers, of words and dates, with holes, quotes and other separators."""
    numbers = "\n".join(f"{k},{k % 7 / 3:.4f},{k * k % 11},{2 * k - 3}" for k in range(60))
    words = "\n".join(f'{k / 4},"w{k % 3}, quoted",2021-0{k % 9 + 1}-15,{k % 2},{k % 5}' for k in range(40))
    late = "\n".join(f"{k},{k}" for k in range(3000)) + "\n0.5,0.5"
    return [
        f"a,b,c,y\n{numbers}\n".encode(),
        f"size,kind,when,flag,y\n{words}\n".encode(),
        f"a,y\n{late}\n".encode(),
        f"größe,y\n{chr(10).join(f'{k},{-k}' for k in range(30))}\n".encode(),
        f"a;b;c;y\n{numbers.replace(',', ';')}\n".encode(),
        b"y\n1\n2\n3\n",
    ]


def mutated(content: bytes, random: Random) -> bytes:
    """Draw one hostile table."""
    for _ in range(random.choice((1, 1, 1, 2, 6))):
        lines = content.split(b"\n")
        row = random.randrange(len(lines)) if random.random() < 0.7 else 0
        cells = lines[row].split(b",")
        at, kind = random.randrange(len(content) + 1), random.randrange(9)
        if kind == 0:
            content = content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]
        elif kind == 1:
            content = content[:at]
        elif kind == 2:
            content = content[:at] + random.choice(WORDS) + content[at:]
        elif kind == 3:
            lines[row] = lines[row] + b"," + random.choice(WORDS)
            content = b"\n".join(lines)
        elif kind == 4:
            content = b"\n".join([*lines, lines[row], *lines[:row]])
        elif kind == 5:
            content = content.replace(
                random.choice((b",", b"\n", b"1", b".")), random.choice(WORDS), random.randrange(1, 9)
            )
        elif kind == 6:
            content = content.decode("utf-8", "replace").encode(
                random.choice(("latin-1", "utf-16", "utf-8-sig")), "replace"
            )
        else:
            cells[random.randrange(len(cells))] = random.choice(WORDS)
            lines[row] = b",".join(cells)
            content = b"\n".join(lines)
    return content


def uses(path: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Give what is done with a table."""
    yield "rows", lambda: (qed.rows(path).count(), qed.rows(path, target="y").feature_names)
    yield "fit", lambda: qed.LinearRegression().fit(path, "y")
    yield "encode", lambda: qed.ColumnEncoder().fit_transform(path)
    yield "score", lambda: qed.TableModel(qed.MeanRegressor()).fit(path, "y").score(qed.rows(path, target="y"))


def fuzz(files: int, seconds: float, first: int, only: int | None) -> Outcomes:
    """Attack until so many files, or so many seconds, are through."""
    outcomes, every = Outcomes(), tables()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "table.csv")
        for content in every:
            path.write_bytes(content)
            for stage, action in uses(path):
                Outcomes().attempt(stage, "warm up", action)
        for number, random in each_file(files, seconds, first, only, outcomes):
            content = mutated(random.choice(every), random)
            path.write_bytes(content)
            for stage, action in uses(path):
                outcomes.attempt(stage, f"{number}", action)
    return outcomes


if __name__ == "__main__":
    sys.exit(run(__doc__, fuzz))

"""Live progress on the standard error, where that is a terminal; nothing where it is not."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress_bar(title: str, *, hidden: bool = False) -> Iterator[Any]:
    """Show a bar while the block runs, and give the function that moves it: ``progress(share, words)``."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
        TextColumn("{task.fields[words]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0, words="")
        yield lambda share, words: bar.update(task, completed=share, words=words)


@contextmanager
def status_line(*, hidden: bool = False) -> Iterator[Callable[[str], None] | None]:
    """Show the name of what is being worked on."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("compiling") as status:
        yield lambda name: status.update(f"compiling for {name}")

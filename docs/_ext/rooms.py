"""The reference, written from the registry: a page per room, with what each model needs and promises."""

import inspect
from importlib import import_module
from pathlib import Path

from sphinx.application import Sphinx

TITLES = {
    "regression": "Regression",
    "classification": "Classification",
    "clustering": "Clustering",
    "features": "Features",
    "selection": "Choosing and comparing",
}
CORE = {
    "qed": [
        "rows",
        "threads",
        "watch",
        "steps",
        "certify",
        "Certificate",
        "Claim",
        "Step",
        "Reason",
        "save",
        "load",
        "resume",
    ],
    "qed.stats": ["Moments", "Factor", "Counts"],
    "qed.data": ["load", "names", "catalogue", "Dataset"],
}


def _first_line(item: object) -> str:
    return (inspect.getdoc(item) or "").split("\n")[0]


def _page(title: str, module: str, names: list[str]) -> str:
    package = import_module(module)
    lines = [
        f"# {title}",
        "",
        "```{eval-rst}",
        f".. currentmodule:: {module}",
        "",
        ".. autosummary::",
        "   :toctree: generated",
        "",
    ]
    lines += [f"   {name}" for name in names]
    lines += ["```", ""]
    models = [(name, getattr(package, name)) for name in names if hasattr(getattr(package, name), "passes")]
    if models:
        lines += ["| model | reads the data | sparse input | weights |", "|---|---|---|---|"]
        for name, model in models:
            weighted = "sample_weight" in inspect.signature(model.fit).parameters
            lines.append(
                f"| `{name}` | {model.passes} | {'yes' if model.sparse else 'no'} | {'yes' if weighted else 'no'} |"
            )
        lines.append("")
    return "\n".join(lines)


def write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "api" / "rooms"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {f"core-{module.rsplit('.', 1)[-1]}": (f"`{module}`", module, names) for module, names in CORE.items()}
    for room, title in TITLES.items():
        pages[room] = (title, f"qed.{room}", sorted(import_module(f"qed.{room}").__all__))
    for name, content in pages.items():
        path, text = folder / f"{name}.md", _page(*content)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

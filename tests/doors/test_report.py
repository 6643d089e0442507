"""The report: everything is in it, nothing has to be fetched or run, and nothing from the data becomes markup."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qed
from qed.commands.source import read
from qed.report.columns import describe_columns
from qed.report.figures import coefficients
from qed.report.page import render
from qed.selection.comparing.comparison import compare

SCRIPT, BRACES, IMAGE = "<script>alert(1)</script>", "{{ 7*7 }}", '"><img src=x onerror=alert(1)>'
FETCHING = {"script", "img", "iframe", "link", "object", "embed", "audio", "video", "form", "input", "base", "image"}


class Page(HTMLParser):
    """Collects the tags, attributes and words of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data):
        self.words.append(data)

    def check(self):
        """Nothing is fetched, nothing runs."""
        assert not FETCHING & set(self.tags)
        for tag, name, value in self.attributes:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "srcset", "action", "background"), (tag, name)
            if name in ("href", "xlink:href"):
                assert value.startswith("#"), (tag, value)


@pytest.fixture(scope="module")
def page(compared):
    return (compared[0] / "report.html").read_text(encoding="utf-8")


def test_all_sections_are_there(page):
    found = Page(page)
    words = " ".join(" ".join(found.words).split())
    for section in ("Leaderboard", "The best model", "The data", "Certificates", "How to reproduce"):
        assert section in words
    for picture in ("Confusion matrix", "Validation curve", "Learning curve"):
        assert picture in words
    assert (
        re.search(r"[\w ]+ tells species right in (98|99)\.\d+ ± 0\.\d+ % of rows it has not seen", words)
        and "∎" in words
    )
    assert "19 values are missing" in words and "a number; 2 missing" in words
    assert "qed compare penguins --target species --cv 5 --seed 0" in words
    assert f"qed {qed.__version__}" in words and "numpy" in words
    assert "class_prior_ are the shares of the classes" in words


def test_the_page_stands_alone(page):
    Page(page).check()
    assert "default-src 'none'" in page
    assert "@import" not in page and not re.search(r"url\((?!#)", page)
    outside = set(re.findall(r"https?://[^\"'\s<)]+", page))
    assert outside <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "prefers-color-scheme: dark" in page and "@media print" in page and "width=device-width" in page


def test_pictures_take_their_colours_from_the_page_and_have_names_of_their_own(page):
    pictures = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    assert len(pictures) >= 3
    for picture in pictures:
        assert "var(--accent)" in picture and not re.search(r"#[0-9a-f]{6}\b", picture)
        assert 'role="img" aria-label=' in picture
    names = re.findall(r'\bid="([^"]+)"', page)
    assert len(names) == len(set(names))
    referred = re.findall(r'(?:url\(|href=")#([^")]+)', page)
    assert set(referred) <= set(names)


def hostile(folder, task):
    generator = np.random.default_rng(0)
    n = 60
    size = generator.standard_normal(n)
    y = size + generator.standard_normal(n) if task == "regression" else np.where(size > 0, IMAGE, BRACES)
    table = pa.table(
        {
            SCRIPT: size,
            BRACES: generator.choice([SCRIPT, BRACES, IMAGE, "$x^$", "[bold red]"], n).tolist(),
            "$price$ in $": generator.standard_normal(n),
            IMAGE: y,
        }
    )
    pq.write_table(table, folder / "<b>bold<b>.parquet")
    return folder / "<b>bold<b>.parquet"


@pytest.mark.parametrize("task", ["regression", "classification", "clustering"])
def test_what_comes_from_the_data_stays_text(run, tmp_path, task):
    path = hostile(tmp_path, task)
    target = [] if task == "clustering" else ["-t", IMAGE]
    found = run("compare", path, *target, "--report", tmp_path / "r.html", "--model", tmp_path / "m.qed")
    assert found.exit_code == 0, found.output
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    Page(text).check()
    assert "<script" not in text and "<img" not in text and "<b>bold" not in text
    words = "".join(Page(text).words)
    assert SCRIPT in words and BRACES in words and IMAGE in words
    assert run("explain", tmp_path / "m.qed").exit_code == 0


ANSWERS = ["Predicted and true", "Residuals"]
CURVES = ["Validation curve", "Learning curve"]
COEFFICIENTS = [f"Coefficients of {name}" for name in ("Adelie", "Chinstrap", "Gentoo")]


def won_by(found, name):
    """Give a comparison as it would be if one model had won."""
    return replace(found, entries=sorted(found.entries, key=lambda entry: entry.name != name))


@pytest.fixture(scope="module")
def of_diabetes():
    data = read("diabetes", "progression")
    return data, compare(
        qed.rows(data.table.append_column("progression", pa.array(data.y)), target="progression"), cv=2
    )


@pytest.mark.parametrize(
    "winner, pictures",
    [
        ("Ridge", [*ANSWERS, *CURVES, "Coefficients"]),
        ("k nearest neighbours", [*ANSWERS, *CURVES]),
        ("Decision tree", [*ANSWERS, *CURVES, "Importances", "The tree"]),
        ("Gradient boosting", [*ANSWERS, *CURVES, "Importances"]),
    ],
)
def test_whoever_wins_has_its_pictures(of_diabetes, winner, pictures):
    data, found = of_diabetes
    text = render(data, won_by(found, winner))
    assert re.findall(r"<figure[^>]*>\s*<h3>(.*?)</h3>", text) == pictures
    assert ('class="rules"' in text) == ("The tree" in pictures) and "fill: #" not in text
    assert f"{winner} explains " in text
    Page(text).check()


def test_clusters_have_their_pictures():
    data = read("iris", None)
    text = render(data, compare(qed.rows(data.table)))
    assert re.findall(r"<figure>\s*<h3>(.*?)</h3>", text) == ["Clusters", "Silhouette", "Elbow"]
    Page(text).check()


def test_every_class_has_its_coefficients():
    data = read("penguins", "species")
    model = qed.TableModel(qed.LogisticRegression(C=0.1)).fit(qed.rows(data.table, data.y))
    titles = [one.title for one in coefficients(model)]
    assert titles == COEFFICIENTS


def test_the_same_comparison_gives_the_same_page():
    data = read("stackloss", "stack_loss")
    found = compare(qed.rows(data.table, data.y))
    assert render(data, found) == render(data, found)


def test_a_column_at_a_glance():
    table = pa.table(
        {
            "number": [1.0, 2.0, None, float("inf")],
            "flag": [True, False, True, None],
            "date": pa.array(["2024-02-29", "2024-03-01", None, None]).cast(pa.date32()),
            "word": pa.array(["b", "a", "b", None]).dictionary_encode(),
            "nothing": pa.nulls(4),
            "list": [[1], [2], [3], [4]],
        }
    )
    seen = {column.name: column for column in describe_columns(table)}
    assert (seen["number"].kind, seen["number"].missing, seen["number"].says) == (
        "numbers",
        2,
        "1.5 ± 0.707, from 1 to 2",
    )
    assert (seen["flag"].kind, seen["flag"].says) == ("truth values", "True 2, False 1")
    assert (seen["date"].kind, seen["date"].says) == ("dates", "from 2024-02-29 to 2024-03-01")
    assert (seen["word"].kind, seen["word"].bars) == ("categories", (1.0, 0.5))
    assert (seen["nothing"].kind, seen["nothing"].missing) == ("nothing", 4)
    assert seen["list"].kind == "other values"

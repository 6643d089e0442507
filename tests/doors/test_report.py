"""The report: everything is in it, nothing has to be fetched or run, and nothing from the data becomes markup."""

import re
from contextlib import redirect_stdout
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import qed
from qed.commands.source import read
from qed.report.about import ABOUT, about
from qed.report.again import python_of
from qed.report.columns import describe_columns
from qed.report.figures import coefficients, confusion
from qed.report.page import render
from qed.report.reading import curve_words
from qed.selection.comparing.comparison import compare
from qed.selection.comparing.contenders import contenders

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
    sections = ("Leaderboard", "The best model", "What drives it", "Where it errs", "The data", "Certificates")
    for section in (*sections, "How to reproduce"):
        assert section in words
    shown = ("What it needs", "Confusion matrix", "Alarms, true and false", "Precision and recall", "Calibration")
    for picture in (*shown, "Validation curve", "Learning curve"):
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
        ("Ridge", ["Coefficients"]),
        ("k nearest neighbours", []),
        ("Decision tree", ["Importances", "The tree"]),
        ("Gradient boosting", ["Importances"]),
    ],
)
def test_whoever_wins_has_its_pictures(of_diabetes, winner, pictures):
    data, found = of_diabetes
    text = render(data, won_by(found, winner))
    titles = re.findall(r"<figure[^>]*>\s*<h3>(.*?)</h3>", text)
    assert [one for one in titles if not one.startswith("How ")] == ["What it needs", *pictures, *ANSWERS, *CURVES]
    assert "How bmi works" in titles
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


def test_a_report_says_what_to_make_of_it(of_diabetes):
    data, found = of_diabetes
    text = render(data, won_by(found, "Ridge"))
    words = " ".join(" ".join(Page(text).words).split())
    assert re.search(r"90 % intervals hold (8|9)\d\.\d % of held-out rows", words)
    assert re.search(r"From \d+ to \d+ training rows the score on rows held out", words)
    assert "on the rows of the fit and" in words and "Most depends on" in words
    assert "It adds up the columns like linear regression" in words
    worst = re.search(r"The worst rows</h3>.*?<tbody>(.*?)</tbody>", text, re.DOTALL).group(1)
    rows = [int(one) for one in re.findall(r'<tr><td class="n">(\d+)</td>', worst)]
    left = np.abs(data.y - won_by(found, "Ridge").predicted)
    assert rows == (np.argsort(-left, kind="stable")[:10] + 1).tolist()


def test_every_model_is_described_in_two_sentences():
    for task in ("regression", "classification", "clustering"):
        X = np.random.default_rng(0).integers(0, 2, (1500, 4)).astype(float)
        for one in contenders(task, 1500, 4, X=X):
            assert type(one.model).__name__ in ABOUT, one.name
            assert re.fullmatch(r"[A-Z][^.]+\. [A-Z][^.]+\.", about(one.model)), about(one.model)


@pytest.mark.parametrize("winner", ["Ridge", "Ridge on squares and products", "Decision tree"])
def test_the_program_makes_the_winner_again(of_diabetes, winner, tmp_path, monkeypatch):
    data, found = of_diabetes
    found = won_by(found, winner)
    program = python_of(data, found)
    monkeypatch.chdir(tmp_path)
    with redirect_stdout(StringIO()) as said:
        exec(program, made := {})
    again, best = made["model"], found.best.model
    assert np.array_equal(again.fingerprint_.mean, best.fingerprint_.mean)
    assert np.array_equal(again.predict(found.rows), best.predict(found.rows))
    # The comparison adds sums of encoded folds in another order: a relative difference of rounding, far below this.
    assert float(said.getvalue()) == pytest.approx(found.best.score, rel=1e-6)
    assert (tmp_path / "best.qed").exists()


def test_the_program_reads_files_and_leaves_out_rows_without_a_target(tmp_path, monkeypatch):
    random = np.random.default_rng(1)
    x = random.standard_normal(60).tolist()
    size = ["" if k % 20 == 3 else ("big" if value + random.normal() > 0 else "small") for k, value in enumerate(x)]
    lines = [f"{k},{value:.3f},{random.choice(['a', 'b'])},{word}" for k, (value, word) in enumerate(zip(x, size))]
    (tmp_path / "some sizes.csv").write_text("id,x,kind,size\n" + "\n".join(lines))
    monkeypatch.chdir(tmp_path)
    data = read("some sizes.csv", "size")
    found = compare(qed.rows(data.table, data.y), cv=3)
    with redirect_stdout(StringIO()) as said:
        exec(python_of(data, found), made := {})
    assert data.n_lost == 3 and "is_valid" in python_of(data, found)
    assert np.array_equal(made["model"].predict(found.rows), found.best.model.predict(found.rows))
    assert float(said.getvalue()) == pytest.approx(found.best.score, rel=1e-6)


def test_rare_classes_share_a_line_of_the_confusion_matrix():
    y = np.repeat([f"class {k}" for k in range(100)], np.arange(100, 0, -1))
    drawn = confusion(y, np.where(np.arange(len(y)) % 10 == 0, "class 7", y))
    assert "71 others" in drawn.svg and "class 28" in drawn.svg and "class 29" not in drawn.svg
    assert "29 most frequent classes" in drawn.says


def contrast(one, other):
    """Give the ratio of two colours by WCAG 2."""

    def light(color):
        parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        r, g, b = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_words_stand_out_from_the_paper_in_the_light_and_in_the_dark(page):
    palettes = re.findall(r":root \{(.*?)\}", page, re.DOTALL)
    assert len(palettes) == 3  # the light, the dark, paper
    for palette in palettes:
        colours = dict(re.findall(r"--([\w-]+): (#\w{3,6})", palette))
        colours = {name: c if len(c) == 7 else "#" + "".join(2 * x for x in c[1:]) for name, c in colours.items()}
        for name in ("ink", "muted", "accent", "good", "bad"):
            for ground in ("paper", "soft"):
                assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground, palette)


def walkable(text):
    """Hold a page to what a keyboard and a reader of screens need."""
    found = Page(text)
    names = [value for _, name, value in found.attributes if name == "id"]
    links = [value for tag, name, value in found.attributes if tag == "a" and name == "href"]
    assert links[0] == "#answer" and 'class="skip"' in text
    assert {link[1:] for link in links} <= set(names)
    for link in links:  # what a link leads to takes the focus
        assert re.search(rf'id="{link[1:]}" tabindex="-1"', text), link
    headings = [int(tag[1]) for tag in found.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1 and headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(headings, headings[1:]))
    regions = re.findall(r'<(?:div class="wide"|pre)[^>]*>', text)
    assert all('tabindex="0" role="region" aria-label="' in region for region in regions)
    tables = text.count("<table")
    assert tables and tables == len(re.findall(r'<div class="wide" [^>]*>\s*<table', text))
    assert "<th>" not in text and text.count("<th ") == text.count('<th scope="col"')
    for picture in re.findall(r"<svg[^>]*>", text):
        assert re.search(r'role="img" aria-label="[^"]+"|aria-hidden="true"', picture), picture[:200]
    assert '<html lang="en">' in text and '<nav aria-label="' in text


def test_the_page_can_be_walked_by_keyboard(page):
    walkable(page)
    words = " ".join(Page(page).words)
    assert "Skip the links" in words and page.count('href="#columns"') == 1


@pytest.mark.parametrize("task", ["regression", "clustering"])
def test_pages_of_other_tasks_can_be_walked_by_keyboard(run, tmp_path, task):
    target = [] if task == "clustering" else ["-t", IMAGE]
    found = run("compare", hostile(tmp_path, task), *target, "--report", tmp_path / "r.html", "--model", tmp_path / "m")
    assert found.exit_code == 0, found.output
    walkable((tmp_path / "r.html").read_text(encoding="utf-8"))


def test_marks_that_turn_the_direction_of_reading_are_written_out(run, tmp_path):
    generator = np.random.default_rng(0)
    family, hebrew = "\U0001f469\u200d\U0001f467", "\u05e9\u05dc"
    table = pa.table(
        {
            "\u202eevil": generator.standard_normal(60),
            family: generator.standard_normal(60),
            hebrew: generator.choice(["\u05d0", "\u05d1"], 60).tolist(),
            "y": generator.standard_normal(60),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = run("compare", tmp_path / "t.parquet", "-t", "y", "--report", tmp_path / "r.html", "--models", "Ridge")
    assert found.exit_code == 0, found.output
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "\u202e" not in text and "\\u202eevil" in text
    assert family in text and f"\u2068{hebrew}\u2069" in text


def test_numbers_on_dark_squares_are_read_on_every_shade(page):
    picture = re.search(r"Confusion matrix</h3>(.*?)</figure>", page, re.DOTALL).group(1)
    assert picture.count('class="on-colour"') >= 3
    assert re.search(r"\.on-colour text \{[^}]*paint-order: stroke; stroke: var\(--paper\)", page)


def test_a_rise_of_rounding_is_no_rise():
    def curve(rises, start=0.9):
        scores = np.array([[start] * len(rises), [start + rise for rise in rises]])
        return replace(
            qed.learning_curve(qed.Ridge(), *qed.data.load("diabetes").Xy(), train_sizes=[50, 100], cv=len(rises)),
            test_scores=scores,
        )

    assert "did not rise" in curve_words(curve([0.0, 2e-16, 0.0]))
    assert "did not rise" in curve_words(curve([-0.1, 0.0, -0.1]))
    assert "still rose by 0.1, more than" in curve_words(curve([0.1, 0.1, 0.1 + 1e-9]))
    assert "rose by no more than its standard error" in curve_words(curve([0.1, -0.05, 0.02]))

"""Comparisons without a target: the number of clusters, whether they are worth the name, and what makes them different."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from scipy import stats

import qed
from qed.commands.source import read
from qed.report.clusters import choice_words, criterion_by_count, describe_clusters, second_opinion, verdict_words
from qed.report.page import headline, render
from qed.selection.comparing import contenders
from qed.selection.comparing.comparison import compare
from qed.selection.comparing.grouping import chosen as chosen_of
from qed.selection.comparing.grouping import spread_evenly
from qed.selection.comparing.leaderboard import ClusterPath
from qed.selection.metrics.clusters import adjusted_rand_score
from qed.selection.metrics.silhouette import new_silhouettes

CENTRES = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]])


def three_groups(n=40):
    return np.concatenate([np.random.default_rng(k).standard_normal((n, 2)) + at for k, at in enumerate(CENTRES)])


@pytest.fixture(scope="module", autouse=True)
def few_settings():
    """Let mixtures and graphs contend with a few numbers of clusters: what they cost is no matter here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(qed.GaussianMixture, "compare_grid", {"covariance_type": ["full"], "n_components": [2, 3, 4]})
        patch.setattr(
            qed.SpectralClustering, "compare_grid", {"affinity": ["nearest_neighbors"], "n_clusters": [2, 3, 4]}
        )
        yield


@pytest.fixture(scope="module")
def groups():
    return compare({"left": three_groups()[:, 0], "up": three_groups()[:, 1]}, cv=3)


@pytest.fixture(scope="module")
def cloud():
    return compare(np.random.default_rng(0).standard_normal((120, 3)), cv=3)


def test_the_silhouette_of_rows_held_out_is_that_of_the_definition():
    X, generator = three_groups(10), np.random.default_rng(5)
    labels, new, own = np.repeat([0, 2, 5], 10), generator.standard_normal((7, 2)), np.array([0, 2, 5, 0, 0, 2, 3])
    found = new_silhouettes(X, labels, new, own)
    for row, cluster, value in zip(new, own, found):
        away = {k: np.linalg.norm(X[labels == k] - row, axis=1).mean() for k in (0, 2, 5)}
        if cluster not in away:
            assert value == 0  # no row of the fit is in its cluster
            continue
        inside, outside = away[cluster], min(mean for k, mean in away.items() if k != cluster)
        # A few sums of ten terms.
        assert value == pytest.approx((outside - inside) / max(inside, outside), rel=1e-12)
    assert (new_silhouettes(X, np.zeros(30), new, np.zeros(7)) == 0).all()


def test_groups_that_are_there_are_found(groups):
    assert groups.best.setting["n_clusters"] == 3 and groups.is_clustered and not groups.follows_from_columns
    labels = groups.best.model.predict(groups.rows)
    assert adjusted_rand_score(labels, np.repeat([0, 1, 2], 40)) == 1.0
    assert groups.best.path.stability[groups.best.chosen] == 1.0
    words = choice_words(groups.best)
    assert words[0].startswith("k = 3: silhouette 0.") and "next best k = " in words[0]
    assert words[-1] == "The elbow of the inertia is at k = 3."
    assert verdict_words(groups).startswith("Clusters worth the name, of strong structure: 19 tables")


def test_means_mixtures_and_graphs_contend_and_the_simplest_wins_a_tie(groups):
    assert [entry.name for entry in groups.entries] == ["k-means", "Gaussian mixture", "Spectral clustering"]
    assert not any(entry.failure for entry in groups.entries)
    assert len({round(entry.score, 12) for entry in groups.entries}) == 1
    assert [entry.path.criterion for entry in groups.entries] == ["inertia", "BIC", ""]
    assert [int(entry.path.counts[entry.chosen]) for entry in groups.entries] == [3, 3, 3]
    assert all(entry.model.certificate_ for entry in groups.entries)
    assert second_opinion(groups.entries[1]) == "The BIC is least at k = 3."


def test_a_graph_of_many_rows_is_not_affordable():
    names = [one.name for one in contenders.contenders("clustering", 5000, 4)]
    assert names == ["k-means", "Gaussian mixture"]


@pytest.mark.parametrize("kind", [qed.GaussianMixture, qed.SpectralClustering])
def test_what_other_clusterers_find_is_reported_and_told_of_new_rows(kind, run, tmp_path, monkeypatch):
    monkeypatch.setattr(contenders, "_kinds", lambda task: [kind])
    pyarrow.csv.write_csv(pa.table({"left": three_groups()[:, 0], "up": three_groups()[:, 1]}), tmp_path / "t.csv")
    words = ("compare", tmp_path / "t.csv", "--cv", "2", "--report", tmp_path / "r.html", "--model", tmp_path / "m.qed")
    found = run(*words)
    assert found.exit_code == 0 and "k = 3: silhouette" in found.stdout, found.output
    assert "finds 3 clusters" in (tmp_path / "r.html").read_text(encoding="utf-8")
    (tmp_path / "new.csv").write_text("left,up\n0,0\n12,0\n0,12\n90,90\n")
    proba = ["--proba"] if kind is qed.GaussianMixture else []
    assert run("predict", tmp_path / "m.qed", tmp_path / "new.csv", "-o", tmp_path / "out.csv", *proba).exit_code == 0
    out = pyarrow.csv.read_csv(tmp_path / "out.csv").to_pydict()
    assert len(set(out["cluster"][:3])) == 3
    if proba:
        assert out["log_density"][3] < min(out["log_density"][:3]) - 10
        sums = np.sum([out[f"probability_{k}"] for k in range(3)], axis=0)
        np.testing.assert_allclose(sums, 1, atol=1e-9)
    assert run("certify", tmp_path / "m.qed", tmp_path / "t.csv").exit_code == 0
    assert run("explain", tmp_path / "m.qed").exit_code == 0


def test_scores_are_those_of_fitting_everything_anew(groups):
    scaled = groups.best.model.encoded(groups.rows).array().X
    for place in (0, 4):
        for fold in range(3):
            held_out = groups.folds == fold
            model = qed.KMeans(groups.best.path.counts[place], random_state=0).fit(scaled[~held_out])
            new = scaled[held_out]
            expected = new_silhouettes(scaled[~held_out], model.labels_, new, model.predict(new)).mean()
            # The same fit, and sums of fewer than a hundred terms.
            assert groups.best.scores[place, fold] == pytest.approx(expected, rel=1e-12)


def test_one_cloud_has_no_clusters_worth_the_name(cloud):
    assert not cloud.is_clustered
    assert verdict_words(cloud).startswith("No clusters worth the name: ")
    data = replace(read("iris", None), table=cloud.rows.array().X)
    assert headline(data, cloud).startswith("There are no clusters worth the name: ")


def test_far_values_in_single_columns_are_no_groups_of_rows():
    found = compare(np.exp(np.random.default_rng(0).standard_normal((150, 3))), cv=3)
    assert found.follows_from_columns
    assert not found.is_clustered or "follow from single columns" in verdict_words(found)


def test_a_single_column_can_have_clusters():
    found = compare({"x": three_groups()[:, 0]}, cv=3)
    assert found.is_clustered and len(found.reference.shuffled) == 0 and found.best.setting["n_clusters"] == 2


def test_tables_without_clusters_lie_in_the_box_of_the_rows():
    Z = three_groups()
    drawn = spread_evenly(Z, np.random.default_rng(0))
    directions = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)[2]
    place, true = ((rows - Z.mean(axis=0)) @ directions.T for rows in (drawn, Z))
    assert drawn.shape == Z.shape
    # Two products of matrices of order two.
    slack = 1e-12 * np.abs(true).max()
    assert (place.min(axis=0) >= true.min(axis=0) - slack).all() and (
        place.max(axis=0) <= true.max(axis=0) + slack
    ).all()


def test_shaky_settings_and_needless_clusters_are_not_chosen(groups):
    counts = np.array([2, 3, 4])
    scores = np.array([[0.9, 0.9], [0.5, 0.6], [0.5, 0.64]])
    path = ClusterPath(counts, np.array([0.2, 0.9, 0.9]), "", np.full(3, np.nan))
    chosen = chosen_of(scores, path)
    assert counts[chosen] == 3  # two is unstable; four is within one standard error and has more
    words = choice_words(replace(groups.best, scores=scores, path=path, chosen=chosen))[0]
    assert "k = 4 (0.57) is no better than by one standard error, with more clusters" in words
    assert "k = 2 (0.90) is higher, but other rows give other clusters" in words
    none = replace(path, stability=np.array([0.2, 0.1, 0.1]))
    assert counts[chosen_of(scores, none)] == 2


def test_mixtures_are_asked_for_their_bic(groups):
    path = replace(groups.best.path, criterion="BIC", values=np.array([9.0, 3.0, 4, 5, 6, 7, 8, 9, 9]))
    assert second_opinion(replace(groups.best, path=path)) == "The BIC is least at k = 3."


def test_a_clusterer_that_fails_does_not_end_the_others(monkeypatch):
    class Broken(qed.KMeans):
        compare_grid = {"n_clusters": [2]}
        compare_name = "broken"

        def fit(self, X, y=None, sample_weight=None):
            raise ZeroDivisionError("no luck")

    monkeypatch.setattr(contenders, "_kinds", lambda task: [Broken, qed.KMeans])
    found = compare(three_groups(10), cv=2)
    assert [entry.failure for entry in found.entries] == ["", "ZeroDivisionError: no luck"]


def test_what_can_not_be_afforded_is_left_out_with_its_reason(monkeypatch):
    class Slow(qed.KMeans):
        compare_grid = {"n_clusters": [2, 3]}
        compare_name = "slow"

        @classmethod
        def _seconds_on(cls, n_rows, n_columns, n_classes):
            return 60.0

    monkeypatch.setattr(contenders, "_kinds", lambda task: [Slow, qed.KMeans])
    found = compare(three_groups(10), cv=2)
    assert found.entries[1].failure == "left out: 5 fits to 30 rows and 2 columns could take 5 minutes"


def test_the_same_seed_gives_the_same_and_few_rows_are_enough():
    X = three_groups(2)
    first, second = compare(X, cv=2, seed=4), compare(X, cv=2, seed=4)
    np.testing.assert_array_equal(first.best.scores, second.best.scores)
    np.testing.assert_array_equal(first.reference.even, second.reference.even)
    # Three rows to a fit: three clusters and more can not be told.
    assert np.isnan(first.best.scores[1:]).all() and first.best.setting["n_clusters"] == 2


def test_what_makes_a_cluster_different():
    generator, n = np.random.default_rng(0), 30
    size = np.r_[generator.normal(0, 1, n), generator.normal(50, 1, n)]
    kind = np.where(np.arange(2 * n) < n, "small", "large")
    holed = [None if i in (0, 45) else float(value) for i, value in enumerate(size * 2)]
    found = compare(pa.table({"size": size, "kind": kind, "twice": holed}), cv=3)
    clusters = describe_clusters(found)
    assert sum(one.size for one in clusters) == 2 * n and sum(one.share for one in clusters) == pytest.approx(1)
    labels = found.best.model.predict(found.rows)
    for one in clusters:
        mine, traits = labels == one.number, {trait.column: trait for trait in one.traits}
        own = size[mine]
        interval = stats.t.interval(0.95, len(own) - 1, own.mean(), own.std(ddof=1) / np.sqrt(len(own)))
        assert (traits["size"].low, traits["size"].high) == pytest.approx(interval, rel=1e-9)
        assert traits["size"].difference == pytest.approx((own.mean() - size[~mine].mean()) / size.std(), rel=1e-9)
        there = [value for value, is_mine in zip(holed, mine) if is_mine and value is not None]
        if there:  # what fills holes does not count
            assert traits["twice"].mean == pytest.approx(np.mean(there), rel=1e-9)
        else:
            assert "twice" not in traits
        share = traits["kind_small"]
        assert (
            share.is_share
            and share.mean == (kind[mine] == "small").mean()
            and 0 <= share.low <= share.mean <= share.high <= 1
        )
        assert all(mine[row - 1] for row in one.typical)
        sizes = [abs(trait.difference) for trait in one.traits]
        assert sizes == sorted(sizes, reverse=True)


@pytest.fixture(scope="module")
def saved(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clusters")
    table = pa.table({"left": three_groups()[:, 0], "up": three_groups()[:, 1], "<b>": three_groups() @ [1.0, -1.0]})
    pyarrow.csv.write_csv(table, folder / "t.csv")
    words = ("compare", folder / "t.csv", "--cv", "3", "--report", folder / "r.html", "--model", folder / "m.qed")
    found = run(*words)
    assert found.exit_code == 0, found.output
    return folder, found


def test_the_command_says_what_it_did_and_how_to_predict_instead(saved, run):
    folder, found = saved
    assert "clustering (no target was given)" in found.stdout and "scaled to mean zero and variance one" in found.stdout
    assert "k = 3: silhouette" in found.stdout and "Clusters worth the name" in found.stdout
    assert len(re.findall(r"^cluster \d, 40 rows \(33 %\): ", found.stdout, re.MULTILINE)) == 3
    assert "to predict a column, add --target COLUMN" in found.stderr
    asked = run.json(
        "compare", folder / "t.csv", "--no-target", "--cv", "3", "--no-report", "--model", folder / "n.qed"
    )
    assert asked["clusters"]["worth_the_name"] and len(asked["clusters"]["path"]) == 9
    assert [one["size"] for one in asked["clusters"]["clusters"]] == [40, 40, 40]


def test_new_rows_are_assigned_with_their_distance(saved, run):
    folder, _ = saved
    (folder / "new.csv").write_text("up,left,<b>\n0,0,0\n0,12,12\n12,0,-12\n90,90,0\n")
    assert run("predict", folder / "m.qed", folder / "new.csv", "-o", folder / "out.csv").exit_code == 0
    out = pyarrow.csv.read_csv(folder / "out.csv")
    cluster, distance = out["cluster"].to_pylist(), out["distance"].to_pylist()
    assert out.column_names == ["cluster", "distance"] and len(set(cluster[:3])) == 3
    assert distance[3] > 5 * max(distance[:3])
    assert "gives no probabilities" in run.refused("predict", folder / "m.qed", folder / "new.csv", "--proba")


def test_the_model_is_certified_and_explained(saved, run):
    folder, _ = saved
    assert "the data it was fitted on" in run("certify", folder / "m.qed", folder / "t.csv").stdout
    assert run("certify", folder / "m.qed", folder / "new.csv").exit_code == 1
    found = run("explain", folder / "m.qed")
    assert re.search(r"centre +cluster 0 +cluster 1 +cluster 2", found.stdout)
    lines = re.findall(r"^(left|up) +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+)$", found.stdout, re.MULTILINE)
    said = {name: sorted(map(float, numbers)) for name, *numbers in lines}
    # Means of forty rows of deviation one, as they are written in four digits.
    np.testing.assert_allclose([said["left"], said["up"]], np.sort(CENTRES.T), atol=1.0)


def test_the_report_begins_with_the_answer(saved):
    text = (saved[0] / "r.html").read_text(encoding="utf-8")
    assert "k-means finds 3 clusters, with a silhouette of " in text
    order = [
        "The clusters",
        "What makes each different",
        "Typical rows",
        "Leaderboard",
        "The best model",
        "Certificates</h2>",
    ]
    places = [text.index(f">{words}" if "<" in words else f">{words}</h") for words in order]
    assert places == sorted(places)
    assert re.findall(r"<figure>\s*<h3>(.*?)</h3>", text) == ["Clusters", "Silhouette", "Elbow"]
    assert "% of the variance" in text and "<td><b></td>" not in text and "<td>&lt;b&gt;</td>" in text


def test_a_cloud_has_a_report_too(cloud):
    data = replace(read("iris", None), table=cloud.rows.array().X)
    assert "There are no clusters worth the name" in render(data, cloud)


REFUSED = {
    "both": (["--no-target", "--target", "left"], "--no-target and --target left contradict each other"),
    "a score of targets": (["--scoring", "r2"], "Clusters are scored by their silhouette"),
    "a positive class": (["--positive", "a"], "Clusters have no positive class"),
    "bags": (["--out-of-bag"], "Clusters are not judged out of bag"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_sense_is_refused_in_a_sentence(saved, run, case):
    words, says = REFUSED[case]
    place = ("--no-report", "--model", saved[0] / "x.qed")
    assert says in run.refused("compare", saved[0] / "t.csv", *words, *place)


def test_rows_that_are_all_alike_are_refused(run, tmp_path):
    (tmp_path / "same.csv").write_text("a,b\n" + "1,2\n" * 20)
    said = run.refused("compare", tmp_path / "same.csv", "--no-report", "--model", tmp_path / "m.qed")
    assert said.startswith("No column is left to learn from in 20 rows.")


def test_the_criterion_of_a_number_is_the_least_over_other_settings(groups):
    entry = groups.entries[1]
    path = ClusterPath(np.array([2, 3, 2, 3]), np.ones(4), "BIC", np.array([5.0, 9.0, 7.0, 4.0]))
    twice = replace(entry, scores=np.array([[0.5], [0.6], [0.9], [0.2]]), path=path, chosen=2)
    counts, values = criterion_by_count(twice)
    assert counts.tolist() == [2, 3] and values.tolist() == [5.0, 4.0]
    assert second_opinion(twice) == "The BIC is least at k = 3."

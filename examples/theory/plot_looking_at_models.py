r"""
Looking at tables and models
============================

One call for each picture that is drawn of a table before a fit, and of a model after it. All of them take arrays, or what a
function of the same name computed; none looks inside a model.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import qed

# %%
# The table first: one panel for each column.
qed.plots.histograms(qed.data.load("penguins").table)
plt.show()

# %%
# A regression: what was said against what was true, the coefficients of standardised columns, and what one column does to the
# prediction while the others stay as they are.
body, progression = qed.data.load("diabetes").Xy()
names = qed.data.load("diabetes").features
scaled = qed.StandardScaler().fit_transform(body)
model = qed.Lasso(alpha=1.0).fit(scaled, progression)
figure, panels = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
qed.plots.predicted_against_true(progression, model.predict(scaled), panels[0])
qed.plots.coefficients(names, model.coef_, panels[1])
frame = pd.DataFrame(body, columns=names)
forest = qed.RandomForestRegressor(40, min_samples_leaf=5, random_state=0).fit(
    frame, progression
)
qed.plots.dependence(qed.partial_dependence(forest, frame, "bmi"), panels[2])
plt.show()

# %%
# Which columns matter, by the loss when one of them is shuffled; and how the score depends on the penalty, with its scatter over
# the folds.
figure, panels = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
shuffled = qed.permutation_importance(forest, frame, progression, n_repeats=5, random_state=0)
qed.plots.importances(names, shuffled.importances, panels[0])
alphas = np.logspace(-2, 4, 25)
search = qed.Search(qed.Ridge(), {"alpha": alphas}, cv=5).fit(scaled, progression)
folds = np.column_stack([search.cv_results_[f"split{fold}_test_score"] for fold in range(5)])
qed.plots.validation_curve(
    alphas, folds, panels[1], xlabel="penalty", ylabel="R²", chosen=search.best_params_["alpha"]
)
plt.show()

# %%
# A classifier: how often what is called is right, against how much is found; and whether chances come true as often as they say.
cells, kind = qed.data.load("breast_cancer").Xy()
train, test, learned, judged = qed.train_test_split(
    cells, kind == "malignant", test_size=0.5, random_state=0
)
figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
curves = {}
for classifier in (qed.GaussianNB(), qed.KNeighborsClassifier(15)):
    chances = classifier.fit(train, learned).predict_proba(test)[:, 1]
    curves[type(classifier).__name__] = qed.precision_recall_curve(judged, chances)[:2]
qed.plots.precision_recall(curves, panels[0], share=judged.mean())
came_true, predicted = qed.calibration_curve(judged, chances, n_bins=8)
qed.plots.calibration(came_true, predicted, panels[1], chances=chances)
plt.show()

# %%
# Groups with their centres, and how the objective fell on the way to them.
irises, _ = qed.data.load("iris").Xy()
figure, panels = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
groups = qed.KMeans(3, random_state=0).fit(irises)
qed.plots.clusters(irises, groups.labels_, groups.cluster_centers_, panels[0])
qed.plots.trace(groups, panels[1])
plt.show()

"""Each model in two sentences: what it does, and what it is good or bad at."""

from typing import Any

BASELINE = "Whatever is not clearly better has learned nothing from them."
TREE = (
    "It asks one question about one column at a time, and predicts what the rows with the same answers have in common. "
    "It can be read as rules; small changes of the rows can change many of them."
)
FOREST = (
    "It grows many trees from rows and columns drawn by lot, and averages what they say. "
    "It needs little tuning and finds bends and interplay of columns by itself; it can not be read like one tree."
)
BOOSTING = (
    "It adds small trees one after another, each correcting what those before it left over. "
    "It is often the most exact on tables with many rows; it can not be read, and learns noise where rows are few."
)
NEIGHBOURS = (
    "It keeps all rows, and predicts what the most similar of them have. "
    "It follows any shape where there are many rows; columns that do not matter mislead it."
)
NETWORK = (
    "It passes the columns through layers of weighted sums and bends, fitted by gradients. "
    "It can follow nearly anything given enough rows; its optimum is one of many, and it can not be read."
)
ABOUT = {
    "MeanRegressor": f"It predicts the mean, whatever the columns say. {BASELINE}",
    "MajorityClassifier": f"It predicts the most frequent class, whatever the columns say. {BASELINE}",
    "LinearRegression": "It adds up the columns, each times a coefficient, so that the squared errors are least. "
    "Its coefficients come with standard errors; it sees neither bends nor interplay of columns.",
    "Ridge": "It adds up the columns like linear regression, and keeps the coefficients small by a squared penalty. "
    "It copes with columns that say the same, and with more columns than rows.",
    "Lasso": "It adds up the columns like linear regression, and sets the coefficients of those that hardly help to zero. "
    "It chooses columns by itself; of several that say the same, it may keep any.",
    "LogisticRegression": "It turns a weighted sum of the columns into probabilities. "
    "Its coefficients can be read and its probabilities are mostly true; it sees neither bends nor interplay of columns.",
    "BernoulliNB": "It counts for each class how often each yes-or-no column is there, as if the columns were independent. "
    "It is fast and needs few rows; its probabilities are too sure where columns go together.",
    "CategoricalNB": "It counts for each class how frequent each level of each column is, as if the columns were independent. "
    "It is fast and needs few rows; its probabilities are too sure where columns go together.",
    "MultinomialNB": "It counts for each class how frequent each word is, as if words were independent. "
    "It is fast and strong on text; its probabilities are too sure.",
    "ComplementNB": "It counts for each class how frequent each word is in all other classes. "
    "It is fast, and fairer to rare classes than its sister; its probabilities are too sure.",
    "GaussianNB": "It fits a bell curve to each column in each class, as if the columns were independent. "
    "It is fast and needs few rows; its probabilities are too sure where columns go together.",
    "LinearDiscriminantAnalysis": "It gives every class a bell-shaped cloud of one common shape, so that straight lines part them. "
    "It needs few rows; outliers and clouds of other shapes mislead it.",
    "QuadraticDiscriminantAnalysis": "It gives every class a bell-shaped cloud of its own shape, so that curves part them. "
    "It needs many more rows than columns in each class.",
    "LinearSVC": "It parts classes by the widest margin of a weighted sum of the columns. "
    "Only rows near the border count; it gives no probabilities.",
    "SVC": "It parts classes by the widest margin in the features of a kernel, which can bend. "
    "It is strong on some thousand rows; it gives no probabilities and grows slow with many rows.",
    **dict.fromkeys(("DecisionTreeRegressor", "DecisionTreeClassifier"), TREE),
    **dict.fromkeys(("RandomForestRegressor", "RandomForestClassifier"), FOREST),
    **dict.fromkeys(("GradientBoostingRegressor", "GradientBoostingClassifier"), BOOSTING),
    **dict.fromkeys(("KNeighborsRegressor", "KNeighborsClassifier"), NEIGHBOURS),
    **dict.fromkeys(("MLPRegressor", "MLPClassifier"), NETWORK),
    "KMeans": "It puts every row to the nearest of k centres, and the centres into the middle of their rows. "
    "It finds round clusters of like size; how many is for you to say.",
    "GaussianMixture": "It explains the rows by k bell-shaped clouds, and says with what chance a row comes from each. "
    "Clouds may be long and of different size; with many columns it needs many rows.",
    "SpectralClustering": "It links rows that are alike, and cuts where the fewest links go. "
    "It follows clusters of any shape; it grows slow with many rows.",
}
PRODUCTS = "Here it sees squares and products of the columns as well, and so bends and interplay of two."


def about(model: Any, degree: int = 1) -> str:
    """Say in two sentences what a model is; of one that is not on the list, what its class says of itself.

    >>> import qed
    >>> about(qed.Ridge()).count(". ")
    1
    """
    kind = type(model)
    found = ABOUT.get(kind.__name__) or (kind.__doc__ or "").strip().split("\n")[0]
    return f"{found} {PRODUCTS}" if degree > 1 else found

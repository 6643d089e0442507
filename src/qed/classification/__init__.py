"""Classification: one method a file; this list is the registry."""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "discriminant.linear": ["LinearDiscriminantAnalysis"],
        "discriminant.quadratic": ["QuadraticDiscriminantAnalysis"],
        "logistic.gradient": ["GradientLogisticRegression"],
        "kernel_logistic": ["KernelLogisticRegression"],
        "logistic.regression": ["LogisticRegression"],
        "majority": ["MajorityClassifier"],
        "naive_bayes.bernoulli": ["BernoulliNB"],
        "naive_bayes.categorical": ["CategoricalNB"],
        "naive_bayes.gaussian": ["GaussianNB"],
        "naive_bayes.multinomial": ["MultinomialNB"],
        "perceptron.model": ["Perceptron"],
        "rectangle": ["Rectangle", "tightest_rectangle"],
        "ridge": ["RidgeClassifier"],
        "separability": ["Separation", "plane_distance", "separating_plane"],
        "svm.linear_svc": ["LinearSVC"],
        "svm.svc": ["SVC"],
    },
)

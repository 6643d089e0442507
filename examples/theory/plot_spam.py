r"""
Spam, word by word
==================

Naive Bayes takes the words of a message for independent, given what kind of message it is. Then the logarithm of the odds is a sum, one
term for each word,

.. math:: \log\frac{P(\text{spam} \mid d)}{P(\text{ham} \mid d)} = \log\frac{P(\text{spam})}{P(\text{ham})}
          + \sum_t x_{dt} \log\frac{\theta_{t, \text{spam}}}{\theta_{t, \text{ham}}},

so every word has a weight that can be looked at. The messages here are made up: from words that either kind likes, and words that both
use.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

SPAM = [
    "free",
    "win",
    "prize",
    "cash",
    "claim",
    "urgent",
    "call",
    "now",
    "offer",
    "text",
    "reply",
    "winner",
    "guaranteed",
]
HAM = [
    "lunch",
    "home",
    "tomorrow",
    "sorry",
    "meeting",
    "thanks",
    "mum",
    "later",
    "train",
    "dinner",
    "see",
    "ok",
    "love",
]
BOTH = ["you", "the", "to", "your", "at", "is", "for", "and", "we", "it", "on", "today", "have"]

generator = np.random.default_rng(0)


def message(kind):
    own, other = (SPAM, HAM) if kind == "spam" else (HAM, SPAM)
    words = generator.choice(
        own + BOTH + other,
        size=generator.integers(6, 14),
        p=[0.5 / 13] * 13 + [0.4 / 13] * 13 + [0.1 / 13] * 13,
    )
    return " ".join(words)


labels = generator.choice(["ham", "spam"], 600, p=[0.8, 0.2])
messages = [message(kind) for kind in labels]
print(labels[0], "|", messages[0])

# %%
# Messages become sparse counts, counts become probabilities. Both parts carry their certificate.
vectorizer = qed.CountVectorizer()
counts = vectorizer.fit_transform(messages[:400])
model = qed.MultinomialNB().fit(counts, labels[:400])
print(vectorizer.certificate_, model.certificate_, sep="\n")

# %%
# The weight of a word is what it adds to the log odds.
weight = model.feature_log_prob_[1] - model.feature_log_prob_[0]
terms = vectorizer.get_feature_names_out()
order = np.argsort(weight)
figure, axes = plt.subplots(figsize=(7, 6), layout="constrained")
axes.barh(terms[order], weight[order], color=np.where(weight[order] > 0, "C1", "C0"))
axes.tick_params(axis="y", labelsize=8)
axes.set(xlabel="log odds of spam that a word adds", title="What the words weigh")
plt.show()

# %%
# New messages: how well they are ranked (the area below the ROC curve), and from where on to call a message spam, if losing a good
# message is ten times as bad as reading spam.
chance = model.predict_proba(vectorizer.transform(messages[400:]))[:, 1]
truth = labels[400:]
fpr, tpr, _ = qed.roc_curve(truth, chance)
line, cost = qed.best_threshold(truth, chance, false_positive=10.0, false_negative=1.0)
figure, axes = plt.subplots(figsize=(5, 3.8), layout="constrained")
axes.plot(fpr, tpr, color="C1", label=f"area {qed.roc_auc_score(truth, chance):.3f}")
axes.plot([0, 1], [0, 1], color="0.7", linewidth=0.8, label="by chance")
axes.set(
    xlabel="share of good messages called spam",
    ylabel="share of spam found",
    title="How well they are ranked",
)
axes.legend(loc="lower right")
plt.show()
print(
    f"calling spam what has a chance of at least {line:.2f} costs {cost:g}; Bayes' rule "
    f"says {10 / 11:.2f}"
)
decided = model.decide(
    vectorizer.transform(messages[400:]), {("spam", "ham"): 10.0, ("ham", "spam"): 1.0}
)
print(qed.confusion_matrix(truth, decided))

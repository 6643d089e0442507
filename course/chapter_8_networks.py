r"""
8. Deep learning: features that are learned
===========================================

**The question.** Somebody wrote a digit on paper. Which one is it? All methods so far needed features, and for a
picture nobody knows good ones: a pixel means nothing by itself. Can the features be learned together with the answer?
And how does one differentiate by ten thousand weights at once?
"""

from itertools import islice

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.neural import constructions, seeing, zoo

X, y = qed.data.load("digits").Xy()
images, digit = np.asarray(X).reshape(-1, 1, 8, 8) / 16, np.asarray(y, dtype=int)
train, judge, test = slice(0, 1000), slice(1000, 1200), slice(1200, None)
print(images.shape, "numbers from 0 to 1; the first 1000 are to learn from")

# %%
# From one neuron to a function
# -----------------------------
#
# A *neuron* takes a weighted sum and bends it: :math:`\sigma(a + b^\top x)`. The bend :math:`\sigma` can be a step, the
# logistic function, its relative :math:`\tanh`, or :math:`\max(0, z)` (*ReLU*), whose slope is 0 or 1. One linear neuron
# with squared errors, or one logistic neuron with the cross-entropy, learns by the same rule,
# :math:`w \leftarrow w + \eta\,(y - \hat y)\, x`: those are chapters 1 and 5. A layer is many of them side by side, and a
# network is layers one behind the other. With :math:`d` columns, :math:`H` neurons in one hidden layer and one answer there
# are :math:`H(d + 1) + H + 1` weights. Without the constants,
#
# .. math:: h(x) = W_L\, \sigma(W_{L-1}\, \sigma(\cdots \sigma(W_1 x))) .
#
# Without the bend nothing is gained. :math:`W_L \cdots W_1` is one matrix, and its rank is at most the width of the
# narrowest layer:

linear = qed.Network([qed.Dense(3), qed.Dense(10)], 10, loss="squared_error")
print("rank of a linear network 10 - 3 - 10:", constructions.collapse(linear).rank)

# %%
# With the bend, one hidden layer is enough for any continuous function. Here the weights are written down, not trained.
# *Steps* hold the middle of the function on each piece; *hinges* :math:`\max(0, x - t)` are straight lines between its
# values. With :math:`k` pieces the error of steps falls as :math:`1/k`, that of hinges as :math:`1/k^2`:


def wave(x):
    """The function to be approximated."""
    return np.sin(2 * np.pi * x)


x = np.linspace(0, 1, 1001)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
for place, (name, make) in zip(
    axes, (("steps", constructions.step_network), ("hinges", constructions.relu_network))
):
    place.plot(x, wave(x), color="0.75", linewidth=4, label="the function")
    place.plot(x, make(wave, 8).forward(x[:, None]).ravel(), label="8 pieces")
    errors = [
        constructions.largest_error(make(wave, k), wave, points=10_001) for k in (8, 16, 32)
    ]
    place.set(
        xlabel="x",
        title=f"{name}: errors {errors[0]:.3f}, {errors[1]:.3f}, {errors[2]:.3f} for 8, 16, 32",
    )
    place.legend()
plt.show()

# %%
# That is the *universal approximation theorem* in one dimension. It holds for every bend that is bounded, continuous and
# not constant. It says that weights exist. It does not say how to find them from data, and in many dimensions it may ask
# for very many units. Features that are *fixed* need a number that grows as a power of the dimension. Units that move with
# the data do better: for smooth functions the squared error falls as :math:`1/M` with :math:`M` units (*Barron*), in any
# dimension. And some functions that a deep network computes with few units need exponentially many in a flat one.
#
# Slopes of everything at once
# ----------------------------
#
# To train is to walk downhill, as in chapter 4, and that needs the gradient. Draw the calculation as a graph: every
# value is a node, made from others. The chain rule says that the derivative of the loss by a node is a sum over the
# nodes that use it,
#
# .. math:: \frac{\partial \ell}{\partial v} = \sum_{u \text{ uses } v} \frac{\partial \ell}{\partial u}
#           \frac{\partial u}{\partial v} .
#
# Written out, this is a sum over *all paths* from the node to the loss, and their number grows as a power of the depth.
# *Back-propagation* takes the nodes in the reverse order of the calculation and writes down each derivative once. Then
# going back costs about as much as going forward, however many paths there are. For a fully connected layer :math:`z = W a`
# it is two products: :math:`\partial\ell/\partial W = \delta a^\top` and :math:`\partial\ell/\partial a = W^\top \delta`,
# with :math:`\delta = \partial\ell/\partial z`. For a bend it is one,
# :math:`\delta = \partial\ell/\partial a \cdot \sigma'(z)`. By hand, for :math:`y = v w_1 w_0 x` and the loss
# :math:`(y - 1)^2` at :math:`x = 2`, :math:`w_0 = 3`, :math:`w_1 = -1`, :math:`v = \frac12`: the values on the way are 6,
# -6 and -3, the loss is 16, and the slopes by :math:`v, w_1, w_0` are 48, -24 and 8. With ``Dense`` layers, the loss halved
# as is usual:

chain = qed.Network([qed.Dense(1, bias=False) for _ in range(3)], 1, loss="squared_error")
for name, value in (("0.weight", 3.0), ("1.weight", -1.0), ("2.weight", 0.5)):
    chain.parameters[name][:] = value
by_hand = {
    name: 2 * slope.item()
    for name, slope in chain.gradients(np.array([[2.0]]), np.array([1.0])).items()
}
print("answer", chain.forward(np.array([[2.0]])).item(), "slopes", by_hand)

# %%
# Convolution
# -----------
#
# A fully connected layer does not know that two pixels are neighbours, and for a colour picture of 32 x 32 pixels it would have
# :math:`3072^2 = 9\,437\,184` weights. A *filter* does know: it is a small picture that slides over the image, and answers at
# each place with the inner product,
#
# .. math:: L[i, j] = \sum_{a, b} I[i + a, j + b]\, G[a, b] .
#
# Of all pieces of one length it answers most to the one that looks like itself. On 7 x 7 pixels a filter of 3 x 3 gives 5 x
# 5 answers with 9 weights; a full layer would have 1225. It *is* a full layer, whose weights are zero outside a window, and
# shared by all windows. In general there are :math:`\lfloor (W - w + 2p)/s \rfloor + 1` answers in a row of :math:`W`
# pixels, with :math:`p` zeros on both sides and steps of :math:`s`; six filters give six maps. Its slopes are convolutions
# again:
#
# .. math:: \frac{\partial \ell}{\partial G[a, b]} = \sum_{i, j} \frac{\partial \ell}{\partial L[i, j]}\, I[i + a, j + b] ,
#    \qquad \frac{\partial \ell}{\partial I[x, y]} = \sum_{i, j} \frac{\partial \ell}{\partial L[i, j]}\, G[x - i, y - j] .
#
# *Pooling* keeps the largest answer of each 2 x 2 places: what was found counts, and a little less where. Its slope goes to
# the place that was the largest. (Pooled over *maps*, with the same filter in several directions, the answer does not tell
# the direction.) Two filters of 3 x 3 one behind the other see 5 x 5 pixels, three see 7 x 7. (Below, zeros around the
# picture keep its size, and a unit sees those, too.)

layers = [
    *(qed.Conv2d(8, 3, padding=1), qed.Activation("relu"), qed.MaxPool2d(2)),
    *(qed.Conv2d(16, 3, padding=1), qed.Activation("relu"), qed.MaxPool2d(2)),
    *(qed.Flatten(), qed.Dense(10)),
]
network = qed.Network(layers, (1, 8, 8), random_state=0)
for line, field in zip(network.summary(), zoo.receptive_fields(layers, (1, 8, 8))):
    print(
        f"{line.layer.split('(')[0]:<11} {line.shape!s:<12} {line.parameters:>5} weights, a "
        f"unit sees {field.size}"
    )

# %%
# Ten outputs and a softmax tell one of ten digits. If a row may have *several* labels (a picture with a dog and a boat), each
# output gets a logistic function of its own: one network answers many questions with yes or no, and they share what its
# layers have found. `qed.MLPClassifier` does so when it is given a column of zeros and ones for each label.
#
# The loss is the cross-entropy of chapter 5. Batches of 32 rows give a noisy slope each; *Adam* divides every coordinate of
# it by its usual size. Other advice that helps: *momentum* and steps that shrink (chapter 4); *dropout*, which silences
# random units in training so that none relies on another; and pictures that are moved, mirrored or tinted a little, since
# their label does not change. After each epoch 200 other digits are asked, and the weights that did best on them are kept;
# so the score below is taken on digits that neither the steps nor this choice have seen.

training = qed.train(
    network,
    images[train],
    digit[train],
    epochs=12,
    learning_rate=0.005,
    validation=(images[judge], digit[judge]),
)
figure, axes = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
axes.semilogy(training.losses, "o-", label="mean loss of an epoch")
axes.set(xlabel="epoch", ylabel="cross-entropy", title="Twelve times through 1 000 digits")
axes.legend()
plt.show()
right = (network.forward(images[test]).argmax(axis=1) == digit[test]).mean()
print(f"right on {right:.1%} of the digits held out")

# %%
# The proof, and what its certificate checks
# ------------------------------------------
#
# The loss of a network is not convex. There are many valleys, and nothing in this course says which one training ends
# in. So the certificate claims no optimum. It claims what can be checked:

model = qed.MLPClassifier(
    32, "tanh", learning_rate_init=0.01, batch_size=64, max_iter=20, random_state=0
)
model.fit(images[train].reshape(1000, -1), digit[train])
print(qed.certify(model, images[train].reshape(1000, -1), digit[train]))

# %%
# - *back-propagation is the derivative by complex steps*: along a direction :math:`d` of signs for each layer's weights,
#   :math:`\mathrm{Im}\, \ell(w + ihd)/h` is computed, with no use of the backward formulas. A complex step has no
#   difference that cancels, so it agrees to the last digits, or the slopes are wrong.
# - *sample_loss_* and *gradient_norm_* follow from the data: the loss and the length of its gradient at the end, for
#   everybody to compute again.
# - *the loss of the last epoch above that of the first*: training led down.
#
# Seeing into it
# --------------
#
# What did the filters become? The first ones are pictures themselves. Of a unit deeper inside one can ask which pixels
# move it: the gradient by the *input*, its *saliency*.

figure, axes = plt.subplots(1, 8, figsize=(11, 1.8), layout="constrained")
for place, pattern in zip(axes, seeing.first_filters(network)[:, 0]):
    place.imshow(pattern, cmap="RdBu_r", vmin=-1, vmax=1)
    place.set_axis_off()
figure.suptitle("the first filters: edges in several directions")
plt.show()
slope = seeing.saliency(network, images[:1], seeing.Unit("7", (0,)))
print(
    "pixels that speak for a zero:",
    int((slope[0, 0] > 0).sum()),
    "and against it:",
    int((slope[0, 0] < 0).sum()),
)

# %%
# There are more such tools in `qed.neural.seeing`: which units answer at all (the deeper, the fewer); the nearest pictures
# in the features of the last layer; a picture that excites a unit most, found by climbing; a picture rebuilt from one unit,
# or from all features; and which of our own words a unit goes along with.
#
# Deeper
# ------
#
# The networks that won the picture contests grew deeper. *LeNet* (1998) read digits. *AlexNet* (2012) has filters of
# several sizes, ReLU, and dropout in its full layers, where most of its weights are. *VGG* (2014) has filters of 3 x 3
# only: three in a row see as much as one of 7 x 7, with 27/49 of the weights. *GoogLeNet* (2014) lays filters of several
# sizes side by side, each behind one of 1 x 1 that first makes the maps fewer, and has no full layers but the last.
# *ResNet* (2015) goes around its layers. Counted, without making a weight:

for plan in (zoo.lenet(), zoo.alexnet(), zoo.vgg(16), zoo.googlenet(), zoo.resnet(152)):
    print(
        f"{plan.name:<11}{plan.year}  {plan.n_parameters:>12,d} weights "
        f"{plan.n_products:>16,d} products for a picture"
    )

# %%
# Deep stacks had a trouble of their own. The slope that arrives at the first layer is a product of one factor for each
# layer, and where these are small, nothing arrives. A *residual* block adds what it has learned to what it was given,
# :math:`Y = F(x) + x`. Then the derivative is :math:`\partial F/\partial x + I`, and the way around is always open. (The texts
# go on to networks with memory and to attention by name only. They are not in qed.)
#
# Stepping through it
# -------------------
#
# A network walks like everything else. What to look for: the objective is the mean loss of the epoch, taken *while* the
# weights move, so it lags behind; and it need not fall in every epoch, since each is made of noisy steps.

walk = qed.steps(model, images[train].reshape(1000, -1), digit[train])
for step in islice(walk, 5):
    print(f"epoch {step.number}: loss {step.objective:.4f}")

# %%
# Where the texts slip
# --------------------
#
# - The derivative of :math:`(y - h)^2` by :math:`c_j` is :math:`-2(y - h)\,\sigma(\cdot)`; one line of the guide has a
#   plus. Exercise 1 looks at it.
# - A footnote says that the rectified unit meets the theorem's conditions. It is not bounded. But the difference of two
#   of them is, and so the conclusion holds.
# - "Two layers of 3 x 3 see up to 9 x 9 pixels" counts paths. They see 5 x 5.
# - The sum of the convolution begins at 0 and those of its derivatives at 1, which is the same only if one counts in the same
#   way. For pooling the derivative is given to *every* largest place; where several are equally large that is too much, and
#   `qed.MaxPool2d` gives it to the first.
# - Three filters of 3 x 3 are said to have :math:`27 C` weights and one of 7 x 7 to have :math:`49 C`. With :math:`C` maps
#   going out as well both have a factor :math:`C` more. The ratio is right.
# - The course book's slope by the weights of the last layer lacks its minus; and the summary sheet's loop back ends at
#   :math:`t = 1`, though the weights :math:`W_0` need :math:`t = 0`.
# - A filter :math:`[1, -1]` answers *positively* where bright is left of dark. The guide's sign is that of a flipped
#   filter. Its "filter for 45 degrees" lies on the main diagonal, and as all its weights are positive it answers to any bright
#   place, too.
#
# Exercises
# ---------
#
# **Exercise 1.** A network of two steps has :math:`a = (0, 1)`, :math:`b = (1, -1)`, :math:`c = (2, 3)`. Compute its
# answer at :math:`x = 2` and the slopes of :math:`(5 - h)^2` by hand. Which weights can gradient descent move?
#
# .. solution::
#
#    The sums are 2 and -1, so the steps are 1 and 0, and :math:`h = 2`. The slopes by :math:`c` are
#    :math:`-2 \cdot 3 \cdot (1, 0) = (-6, 0)`. A step is flat, so all slopes by :math:`a` and :math:`b` are zero: they
#    never move. With hinges they do.

steps = constructions.hidden_layer([0.0, 1.0], [1.0, -1.0], [2.0, 3.0], "step")
slopes = steps.gradients(np.array([[2.0]]), np.array([5.0]))
# The loss of the network is half of the square.
assert steps.forward(np.array([[2.0]])) == 2 and (2 * slopes["2.weight"]).ravel().tolist() == [
    -6,
    0,
]
assert not slopes["0.weight"].any() and not slopes["0.bias"].any()
print({name: (2 * slope).ravel().tolist() for name, slope in slopes.items()})

# %%
# .. end-solution::
#
# **Exercise 2.** LeNet takes pictures of 32 x 32 pixels. Count its weights by hand, layer by layer: 6 filters of 5 x 5,
# pooling, 16 filters of 5 x 5, pooling, then 120, 84 and 10 neurons.
#
# .. solution::
#
#    :math:`6 \cdot 26 = 156`; :math:`16 \cdot (6 \cdot 25 + 1) = 2416`; the maps are 5 x 5 then, so
#    :math:`120 \cdot 401 = 48120`; :math:`84 \cdot 121 = 10164`; :math:`10 \cdot 85 = 850`. Most weights are in the first
#    fully connected layer.

by_hand = [156, 2416, 48120, 10164, 850]
counted = [line.parameters for line in zoo.lenet().summary() if line.parameters]
assert counted == by_hand and sum(by_hand) == 61_706
print(by_hand, sum(by_hand))

# %%
# .. end-solution::
#
# **Exercise 3.** Stack ten layers of eight logistic neurons. How long is the slope of the first layer's weights against
# that of two layers? Put a way around each layer. Guess first.
#
# .. solution::
#
#    The logistic function is at most as steep as 1/4, so each layer makes the slope several times shorter: ten of them
#    leave next to nothing. Around shortcuts it hardly changes.

draws = np.random.default_rng(0)
rows, kind = draws.standard_normal((50, 8)), draws.integers(2, size=50)


def first_slope(depth, around):
    """Give the length of the slope by the weights of the first layer."""
    inner = [qed.Dense(8), qed.Activation("logistic")]
    blocks = [qed.Residual(inner) if around else qed.Chain(inner) for _ in range(depth)]
    stack = qed.Network([*blocks, qed.Dense(2)], 8, random_state=0)
    return np.linalg.norm(
        stack.gradients(rows, kind)["0.inside.0.weight" if around else "0.0.weight"]
    )


for around in (False, True):
    found = [first_slope(depth, around) for depth in (2, 10)]
    print(
        f"{'around shortcuts' if around else 'plain stack':<18}{found[0]:.2e} with 2 "
        f"layers, {found[1]:.2e} with 10"
    )
assert first_slope(10, False) < 0.01 * first_slope(2, False) and first_slope(
    10, True
) > 0.1 * first_slope(2, True)

# %%
# .. end-solution::
#
# All chapters so far had a teacher, or rows to be understood by themselves. The last and short one learns from rewards.

"""Neural networks, from one neuron to small convolutional nets; one idea a file; this list is the registry.

How the room is built, from below:

* **engine** (``from qed.neural.engine import Node, apply, gradients``): ``Node`` (a value in a graph), ``Operation`` (forward and
  backward side by side), ``apply(operation, *nodes)``,
  ``gradients(result, [nodes], seed=None, tally=None)`` by back-propagation, ``path_sum(result, node)`` path by path. Nodes know
  ``+ - * ** @`` and ``sum()``; the operations of layers are in ``engine/`` (``Affine``, ``Convolve``, ``MaxPool``, ...).
* **layers**: ``Dense``, ``Conv2d(filters, size, stride=, padding=, groups=)``, ``MaxPool2d``, ``AvgPool2d``, ``GlobalAvgPool2d``,
  ``ChannelPool2d``, ``Activation(name)``, ``Dropout``, ``BatchNorm``, ``LocalNorm``, ``Flatten``, ``Unflatten``, and blocks of
  layers: ``Chain``, ``Residual(layers, shortcut=[...])``, ``Parallel([branch, ...])``. A layer has ``shape(given)``,
  ``weights(given)``, ``products(given)`` and ``run(node, scope)``, and holds no numbers itself.
* **training**: ``train(network, X, y, update=, learning_rate=, schedule=, batch=, epochs=, validation=, patience=, augment=,
  random_state=, start=)`` changes the network in place and gives a ``Training`` (losses, scores, ending, certificate).
* **network**: ``Network(layers, input_shape, loss=, random_state=, dtype=)``. Rows are (n, columns) or images (n, channels, height,
  width); Dense weights are (inputs, outputs), filters (filters, channels, height, width). All trained weights lie in
  ``network.vector``; ``network.parameters["0.weight"]`` are views of it, written to in place. ``forward(X)``,
  ``activations(X)``, ``gradient(X, y)`` (loss and vector), ``gradients(X, y)`` (by name), ``input_gradient(X, of)`` (saliency),
  ``run(X, wants_input=True)`` (the graph itself, with ``run.layers["3"]`` what came out of layer 3), ``shapes``, ``n_parameters``,
  ``summary()``.

::

    net = Network([Conv2d(6, 5, padding=2), Activation("relu"), MaxPool2d(2), Flatten(), Dense(10)], (1, 28, 28))
    loss, gradient = net.gradient(X, y)
"""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "layers.activation": ["Activation", "BatchNorm", "Dropout", "LocalNorm"],
        "layers.blocks": ["Chain", "Parallel", "Residual"],
        "layers.convolution": ["Conv2d"],
        "layers.dense": ["Dense", "Flatten", "Unflatten"],
        "layers.layer": ["Layer"],
        "layers.pooling": ["AvgPool2d", "ChannelPool2d", "GlobalAvgPool2d", "MaxPool2d"],
        "models.classifier": ["MLPClassifier"],
        "models.regressor": ["MLPRegressor"],
        "network": ["Network"],
        "training.schedules": ["Schedule"],
        "training.train": ["Training", "train"],
        "training.updates": ["Update"],
    },
)

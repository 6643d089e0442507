"""Data to try things on: a dozen small real tables inside the package, and generators with a known truth.

``load("penguins")`` reads one of the tables, ``names()`` and ``catalogue()`` say which there are, and
``qed.data.synthetic`` draws data whose law is written down. Importing this module reads no file and imports
neither NumPy nor pyarrow.
"""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "bundled": ["catalogue", "load", "names"],
        "catalogue": ["About"],
        "dataset": ["Dataset"],
        "synthetic": [],
    },
)

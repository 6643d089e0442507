"""What each command of the command line does, apart from reading arguments.

The files are loaded when a command needs them, so that ``qed --help`` answers at once: ``commands.compare.compare(...)``.
"""

from qed.base.lazy import room

__getattr__, __dir__, __all__ = room(
    __name__,
    {
        "catalogue": [],
        "certify": [],
        "compare": [],
        "datasets": [],
        "explain": [],
        "predict": [],
        "progress": [],
        "results": [],
        "using.calibrate": ["calibrate"],
        "using.export": ["export"],
        "using.serve": ["serve"],
        "warmup": [],
    },
)

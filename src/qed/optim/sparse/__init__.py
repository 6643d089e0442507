"""Problems whose solution is mostly zero: coordinate descent, working sets, exact ends."""

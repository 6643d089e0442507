"""The place of the only bit of a number, from the six highest bits of its product with another, which are different for each."""

import numpy as np

SCATTER, TOP = np.uint64(0x03F79D71B4CB0A89), np.uint64(58)
PLACES = np.zeros(64, dtype=np.intp)
PLACES[[((1 << place) * int(SCATTER) & (1 << 64) - 1) >> 58 for place in range(64)]] = np.arange(64)

"""Few columns, chosen one by one or all subsets at once."""

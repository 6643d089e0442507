// A browser that shows these pages from a disk may not read one for another, so a search there lists pages without excerpts.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// What it means: docs/page.md, "Left out of an index that is not there". What is missing: docs/page.md, "Something
// else".

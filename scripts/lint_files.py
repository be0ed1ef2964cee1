#!/usr/bin/env python3
"""The sources that clang-tidy reads, one a line: of src, ops, schedules and generators, those that build-lint compiles.

  scripts/lint_files.py              those that differ from the main branch, committed or not. For a header that differs, a
                                     source that includes it: clang-tidy reports on the headers of a source too
  scripts/lint_files.py --all        all of them
"""
import json
import os
import re
import subprocess
import sys

FOLDERS = ("src/", "ops/", "schedules/", "generators/")


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout.split()


def compiled():
    """The sources of the folders that build-lint compiles, in its order, each once."""
    with open("build-lint/compile_commands.json", encoding="utf-8") as f:
        names = [os.path.relpath(entry["file"]) for entry in json.load(f)]
    return list(dict.fromkeys(name for name in names if name.startswith(FOLDERS)))


def changed():
    """Files that differ from where this branch left the main one, and files that git does not know yet."""
    base = next(iter(git("merge-base", "HEAD", "origin/main") or git("merge-base", "HEAD", "main")), "HEAD")
    return git("diff", "--name-only", "--diff-filter=d", base) + git("ls-files", "--others", "--exclude-standard")


def reader_of(header, sources):
    """A source that includes the header: the one with its name, or the first."""
    written = header.split("include/")[-1] if "include/" in header else header.removeprefix("src/")
    include = re.compile(r'^#include [<"]' + re.escape(written) + '[>"]', re.M)
    readers = []
    for source in sources:
        with open(source, encoding="utf-8") as f:
            if include.search(f.read()):
                readers.append(source)
    stem = os.path.basename(header).removesuffix(".h")
    return next((name for name in readers if os.path.basename(name).split(".")[0] == stem), readers[0] if readers else None)


def main():
    if sys.argv[1:] not in ([], ["--all"]):
        sys.exit(__doc__)
    sources = compiled()
    if not sources:
        sys.exit("lint_files: build-lint compiles no source of " + ", ".join(FOLDERS))
    chosen = set(sources)
    if not sys.argv[1:]:
        names = [name for name in changed() if name.startswith((*FOLDERS, "include/"))]
        chosen = {name for name in names if name in chosen}
        chosen |= {reader_of(name, sources) for name in names if name.endswith(".h")}
    for name in sources:
        if name in chosen:
            print(name)


if __name__ == "__main__":
    main()

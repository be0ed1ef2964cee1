#!/usr/bin/env python3
"""What pages refer to is there: files and anchors of links, sections named behind a link, files named in the text.

  [targets](targets.md), ![](a.svg)         the file, beside the page
  [the bounds](ir.md#math-functions)        the heading, by the anchor that GitHub gives it
  [codegen.md](codegen.md), "Lines"         the heading, by its words; `docs/ir.md`, "A fragment" as well
  `tests/negative`, `src/lower/place.cpp`   the file or folder, from the root; where * or … stands, something that fits
  docs/README.md                            names every page of docs/
  // docs/ir.md, "Conversions"              a comment of include/ or src/, also of ops/ and schedules/: the heading

  scripts/check_links.py [ROOT]      prints every offense, exit code 1 if there is one
"""
import fnmatch
import os
import re
import sys

LINK = re.compile(r"(?<!!)\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)|<img [^>]*src=\"([^\"]+)\"")
SECTION = re.compile(r'(?:\]\(([^)\s#]+)\)|`([\w./-]+\.md)`),?\s+"([^"]+)"')
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.*-]*)`")
IN_COMMENT = re.compile(r'(docs/[\w-]+\.md),\s+(?://\s*)?"([^"]+)"')
FENCE = re.compile(r"^(```.*?\n)(.*?)(^```$)", re.M | re.S)
SKIPPED = {".git", "build", "broken", ".cache"}


def pages(root):
    for folder, dirs, names in os.walk(root):
        dirs[:] = sorted(d for d in dirs if d not in SKIPPED and not d.startswith("build"))
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def sources(root):
    for top in ("include", "src", "ops/include", "ops/src", "schedules/include", "schedules/src"):
        for folder, dirs, names in os.walk(os.path.join(root, top)):
            dirs.sort()
            for name in sorted(names):
                if name.endswith((".h", ".cpp")):
                    yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def without_code(text):
    """The page without what its fenced blocks hold; lines keep their numbers."""
    return FENCE.sub(lambda m: m[1] + "\n" * m[2].count("\n") + m[3], text)


def plain(heading):
    """A heading's words as they are read: without the marks of links, code and emphasis."""
    return re.sub(r"[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)).strip()


def headings(text):
    return [plain(h) for h in re.findall(r"^#{1,6} +(.+?) *#*$", without_code(text), re.M)]


def anchors(text):
    """GitHub's: lower case, spaces to hyphens, other marks gone, a number behind the second of a name."""
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for heading in headings(text):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count, name = 0, anchor
        while name in found:
            count += 1
            name = f"{anchor}-{count}"
        found.add(name)
    return found


class Tree:
    def __init__(self, root):
        self.root = root
        self.texts = {name: self.read(name) for name in pages(root)}
        self.top = {n for n in os.listdir(root) if os.path.isdir(os.path.join(root, n)) and not n.startswith("build")}

    def read(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as f:
            return f.read()

    def exists(self, path):
        if not re.search(r"[*…]", path):
            return os.path.exists(os.path.join(self.root, path))
        folder, last = os.path.split(path.rstrip("/"))
        full = os.path.join(self.root, folder)
        return os.path.isdir(full) and any(fnmatch.fnmatch(n, last.replace("…", "*")) for n in os.listdir(full))

    def offenses(self):
        for name, text in self.texts.items():
            text = without_code(text)
            for at, sentence in sorted(self.of_page(name, text)):
                yield f"{name}:{text.count(chr(10), 0, at) + 1}: {sentence}" if at else f"{name}: {sentence}"
        for name in sources(self.root):
            text = self.read(name)
            for m in IN_COMMENT.finditer(text):
                line, words = text.count("\n", 0, m.start()) + 1, re.sub(r"\s+(//\s*)?", " ", m[2])
                if m[1] not in self.texts:
                    yield f"{name}:{line}: {m[1]}: no such file"
                elif words not in headings(self.texts[m[1]]):
                    yield f'{name}:{line}: {m[1]} has no heading "{words}"'
        index = self.texts.get("docs/README.md", "")
        named = {m[1].split("#")[0] for m in LINK.finditer(index)}
        for name in self.texts:
            if re.fullmatch(r"docs/[^/]+\.md", name) and name != "docs/README.md" and name[len("docs/"):] not in named:
                yield f"docs/README.md: no link to {name}"

    def of_page(self, name, text):
        here = os.path.dirname(name)
        for m in LINK.finditer(text):
            target, _, anchor = m[1].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            path = os.path.normpath(os.path.join(here, target)).replace(os.sep, "/") if target else name
            if not self.exists(path):
                yield m.start(), f"{m[1]}: no such file"
            elif anchor and path in self.texts and anchor not in anchors(self.texts[path]):
                yield m.start(), f"{m[1]}: {path} has no heading of that anchor"
        for m in IMAGE.finditer(text):
            target = m[1] or m[2]
            if not re.match(r"[a-z]+:", target) and not self.exists(os.path.normpath(os.path.join(here, target))):
                yield m.start(), f"{target}: no such picture"
        for m in SECTION.finditer(text):
            path = os.path.normpath(os.path.join(here, m[1])).replace(os.sep, "/") if m[1] else m[2]
            words = re.sub(r"\s+", " ", plain(m[3]))
            if path in self.texts and words not in headings(self.texts[path]):
                yield m.start(), f'{path} has no heading "{words}"'
        for m in PATH.finditer(text):
            if m[1].split("/")[0] in self.top and not self.exists(m[1]):
                yield m.start(), f"{m[1]}: no such file or folder"


def main():
    tree = Tree(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    offenses = list(tree.offenses())
    for offense in offenses:
        print(offense, file=sys.stderr)
    print(f"links: {len(tree.texts)} pages, {len(offenses)} offenses")
    return 1 if offenses or not tree.texts else 0


if __name__ == "__main__":
    sys.exit(main())

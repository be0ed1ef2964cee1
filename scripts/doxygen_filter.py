#!/usr/bin/env python3
"""What doxygen reads of a header: plain comments become those that it takes as documentation. Lines keep their numbers.

  // words above a declaration        /// words
  int lanes;  // words behind it      int lanes;  ///< words
  the comment at a file's head        documents the file
  // ---- a rule between sections     stays what it is, unless it says something: // ---- softmax: exp(x) / sum of exp(x)
  what is indented in a comment       is code

Of pages: headings get anchors of the page's own, docs/ir.md "Types" the anchor docs-ir-types, and links go to those. Lessons of the
tutorial, which are text, become pages.

  scripts/doxygen_filter.py FILE      (FILTER_PATTERNS of docs/Doxyfile, in the root)
  scripts/doxygen_filter.py --self-test
"""
import os
import re
import sys

COMMENT = re.compile(r"^(\s*)//(?!/) ?(.*)$")
BEHIND = re.compile(r"^(\s*\S.*?[;,{}\w)\]])(\s+)//(?!/) ?(.*)$")
RULE = re.compile(r"^\s*(?://|/\*) ?-{2,}")
TELLING_RULE = re.compile(r"^(\s*)// ?-{2,} (.*:.*?)[ -]*$")  # its words say more than a name


def escaped(text):
    """Words as doxygen prints them: nothing in them is a command, a tag or a link; what stands in backticks is left alone."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([\\@<>#$%&])", r"\\\1", p).replace("*", "\\*") for p in parts)


def words(lines):
    """The lines of a comment, code in fences; a fence shares the empty line before or behind the code."""
    out, code = [], False
    for k, line in enumerate(lines):
        indented = bool(re.match(r"\s{2,}\S", line)) and (code or k == 0 or not lines[k - 1].strip() or lines[k - 1].endswith(":"))
        if code and not line.strip() and k + 1 < len(lines) and re.match(r"\s{2,}\S", lines[k + 1]):
            indented = True
        if indented and not code:
            code = True
            if out and not out[-1].strip():
                out[-1] = "```{.cpp}"
            else:
                line = "```{.cpp}\n" + line
        elif code and not indented:
            code = False
            if not line.strip():
                line = "```"
                out.append(line)
                continue
            line = "```\n" + escaped(line)
            out.append(line)
            continue
        out.append(line if code else escaped(line))
    if code:
        out[-1] += "\n```"
    return out


def block(indent, lines, file_head):
    text = words(lines)
    if file_head:
        text[0] = "@file\n" + text[0]
    return [indent + "/// " + part for line in text for part in line.split("\n")]


def cpp(source):
    out, pending, head = [], [], True
    lines = source.split("\n")
    if "SPDX-License-Identifier" in lines[0]:
        lines[0] = ""
    for k, line in enumerate(lines):
        if TELLING_RULE.match(line):
            lines[k] = TELLING_RULE.sub(r"\1// \2", line)
            if k + 1 < len(lines) and re.fullmatch(r"\s*// ?-{2,}", lines[k + 1]):  # a rule that did not fit its line
                lines[k : k + 2] = lines[k + 1], lines[k]
    k = 0
    while k < len(lines):
        line = lines[k]
        found = COMMENT.match(line)
        if found and not RULE.match(line):
            pending.append(found)
            k += 1
            if k < len(lines) and COMMENT.match(lines[k]) and not RULE.match(lines[k]):
                continue
            below = lines[k] if k < len(lines) else ""
            texts = [m[2] for m in pending]
            label = len(texts) == 1 and not re.search(r"[.:;,]", texts[0]) and len(texts[0].split()) < 3
            if head or (below.strip() and not re.match(r"\s*(#|\}|//|public:|private:)", below) and not label):
                out += block(pending[0][1], texts, head)
                head = False
            else:
                out += [m[0] for m in pending]
            pending = []
            continue
        behind = BEHIND.match(line)
        if behind and '"' not in behind[3] or behind and behind[1].count('"') % 2 == 0:
            code, gap, text = behind[1], behind[2], behind[3]
            # A comment that goes on below stands in lines of comments alone, as far to the right.
            while k + 1 < len(lines) and COMMENT.match(lines[k + 1]) and len(COMMENT.match(lines[k + 1])[1]) == len(code) + len(gap):
                k += 1
                text += " " + COMMENT.match(lines[k])[2]
            if code.endswith("{"):
                out.append(re.match(r"\s*", code)[0] + "/// " + escaped(text))
                out.append(code)
            else:
                out.append(f"{code}{gap}///< {escaped(text)}")
        else:
            out.append(line)
        k += 1
    return "\n".join(out)


def c(source):
    """Comments of C, /* ... */: the same, by their first characters."""
    source = re.sub(r"^(\s*)/\*(?![*<]| ?-{2,})(?=[^\n]*\n|[^\n]*\*/\s*$)", r"\1/**", source, flags=re.M)
    source = re.sub(r"([^\s{][ \t]+)/\*(?![*<])([^\n]*\*/)$", r"\1/**<\2", source, flags=re.M)
    head = re.match(r"/\*+ ?(?:-{2,} )?(.*?)(?: -{2,})? ?\*/", source, re.S)
    return "/** @file\n * " + head[1] + " */" + source[head.end():] if head else source


LINK = re.compile(r"(?<!!)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)
MAIN = "docs-README"  # the main page of the site


def page_name(path):
    return re.sub(r"\W+", "-", os.path.splitext(os.path.relpath(path))[0])


def is_page(path):
    return path.endswith(".md") or bool(re.search(r"apps/tutorial/\d\w*\.txt$", path))


class Anchors:
    """The anchors of a page's headings, in their order: the first is the page's own."""

    def __init__(self, path):
        self.name, self.first, self.taken = page_name(path), True, {}

    def of(self, heading):
        if self.first:
            self.first = False
            return self.name
        plain = re.sub(r"[`*]", "", LINK.sub(r"\1", heading))
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        self.taken[anchor] = self.taken.get(anchor, -1) + 1
        return f"{self.name}-{anchor}" + (f"-{self.taken[anchor]}" if self.taken[anchor] else "")


def sections(source, path):
    """A page by its headings: each with its anchor and the text below it."""
    if path.endswith(".txt"):
        title, _, text = source.split("\n", 2)
        return [(title, page_name(path), text)]
    anchors, found = Anchors(path), []
    for part in FENCE.split(source):
        if part.startswith("```"):
            found[-1][2] += part
            continue
        pieces = re.split(r"^#{1,6} +(.+?) *$", part, flags=re.M)
        if found:
            found[-1][2] += pieces[0]
        found += [[heading, anchors.of(heading), text] for heading, text in zip(pieces[1::2], pieces[2::2])]
    return found


def page(source, path):
    here, anchors = os.path.dirname(path), Anchors(path)

    def heading(m):
        if m[2].endswith("}"):  # it has an anchor
            return m[0]
        name = anchors.of(m[2])
        text = m[2].replace("`", "")  # doxygen prints marks of code in a heading as they stand
        return f"{m[1]} {text} {{#{'mainpage' if name == MAIN else name}}}"

    def link(m):
        target, _, anchor = m[2].partition("#")
        file = os.path.join(here, target) if target else path
        if re.match(r"[a-z]+:", m[2]) or not is_page(file) and not os.path.exists(file):
            return m[0]
        if not is_page(file):  # a file of the repository, which the site does not have
            return m[1]
        text, to = m[1].replace("`", ""), page_name(file)  # doxygen does not read marks in the text of a reference
        return f"[{text}](#{to}-{anchor})" if anchor else f"[{text}](#{'mainpage' if to == MAIN else to})"

    def outside(text):
        text = re.sub(r"^(#{1,6}) +(.+?) *$", heading, text, flags=re.M)
        # A quote would end the code between single marks.
        text = re.sub(r"`[^`]+`", lambda m: f"`{m[0]}`" if "'" in m[0] else m[0], text)
        return LINK.sub(link, text)

    return "".join(p if p.startswith("```") else outside(p) for p in FENCE.split(source))


def lesson(source, path):
    """What a lesson prints: paragraphs are text, what is indented and the lines of steps are code."""
    title, _, text = source.split("\n", 2)
    title = re.sub(r"^(\d+)\. ", r"Lesson \1. ", title)  # not an item of a list
    out, code = [f"# {escaped(title)} {{#{page_name(path)}}}", ""], False
    for paragraph in re.split(r"\n\n+", text.strip("\n")):
        is_code = paragraph.startswith(("    ", "after  "))
        if is_code != code:
            out.append("```")
            out += [] if is_code else [""]
        elif code:
            out.append("")
        out.append(paragraph if is_code else escaped(paragraph) + "\n")
        code = is_code
    return "\n".join(out + ["```"] * code) + "\n"


def self_test():
    given = "\n".join(["#pragma once", "// A head.", "//", "//   f(1);", "", "// ---- rule ----", "// loops", "int a;",
                       "// Words with <memory> and `code<T>`.", "int b;  // lanes", "struct C {  // holds it", "  // at the end", "};"])
    found = cpp(given)
    expected = "\n".join(["#pragma once", "/// @file", "/// A head.", "/// ```{.cpp}", "///   f(1);", "/// ```", "", "// ---- rule ----",
                          "// loops", "int a;", "/// Words with \\<memory\\> and `code<T>`.", "int b;  ///< lanes", "/// holds it",
                          "struct C {", "  // at the end", "};"])
    if found != expected:
        sys.exit(f"expected\n{expected}\nfound\n{found}")
    found = page("# A\n## B `c`\n[`x`](#b-c), [y](ir.md#types), [z](../README.md), [m](README.md), [l](../LICENSE), `a'b`\n```\n# no\n```\n", "docs/a.md")
    expected = ("# A {#docs-a}\n## B c {#docs-a-b-c}\n[x](#docs-a-b-c), [y](#docs-ir-types), [z](#README), [m](#mainpage), l, ``a'b``\n"
                "```\n# no\n```\n")
    if found != expected:
        sys.exit(f"expected\n{expected}\nfound\n{found}")
    found = lesson("1. A\n====\n\nOne <b>:\n\n    for i\n      b\n\nafter  split(i)\n\n    c\n\nTwo.\n", "apps/tutorial/01_a.txt")
    expected = ("# Lesson 1. A {#apps-tutorial-01_a}\n\nOne \\<b\\>:\n\n```\n    for i\n      b\n\nafter  split(i)\n\n    c\n```\n\nTwo.\n\n")
    if found != expected:
        sys.exit(f"expected\n{expected}\nfound\n{found}")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    with open(sys.argv[1], encoding="utf-8") as f:
        source = f.read()
    if sys.argv[1].endswith(".txt"):
        return sys.stdout.write(lesson(source, sys.argv[1])) and None
    if sys.argv[1].endswith(".md"):
        return sys.stdout.write(page(source, sys.argv[1])) and None
    sys.stdout.write(c(source) if "/* " in source[:3] else cpp(source))


if __name__ == "__main__":
    main()

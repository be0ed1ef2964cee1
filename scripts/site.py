#!/usr/bin/env python3
"""The pages and the reference of all headers as a site that needs no server: OUT/html/index.html.

  scripts/site.py OUT             (./dev docs: build/docs)
  scripts/site.py --self-test
  scripts/site.py --help

docs/README.md is the main page. Its tables are the navigation: a group for each section, an entry for each link. Doxygen's search box
finds names and titles; the page "Search" finds words in the text of all pages, with an index that is made here.
"""
import glob
import html
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import doxygen_filter

INDEX, OVERVIEW, TUTORIAL = "docs/README.md", "README.md", "apps/tutorial/README.md"
REFERENCE = """<tab type="usergroup" visible="yes" title="Reference of the headers">
      <tab type="namespacelist" visible="yes" title="Namespaces"/>
      <tab type="classlist" visible="yes" title="Classes"/>
      <tab type="filelist" visible="yes" title="Headers"/>
    </tab>"""
SEARCH = """# Search {#search-pages}

\\htmlonly
<input id="words" type="search" placeholder="words in the text of all pages" autofocus>
<p id="count"></p><div id="found"></div>
<script src="texts.js"></script><script src="fulltext.js"></script>
\\endhtmlonly
"""
DOXYFILE = """@INCLUDE = docs/Doxyfile
INPUT += {lessons} {out}/search.md
OUTPUT_DIRECTORY = {out}
LAYOUT_FILE = {out}/layout.xml
HTML_EXTRA_FILES = docs/fulltext.js {out}/texts.js
"""


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def words(text):
    """What is read of Markdown: without the marks of links, pictures, tables, code and emphasis."""
    text = re.sub(r"!?\[((?:[^\]\[]|\[[^\]]*\])*)\]\([^)\s]*\)", r"\1", text)
    text = re.sub(r"^\|[-|]+\|$|^```.*$|^=+$|^ *[-*] ", "", text, flags=re.M)
    return re.sub(r"\s+", " ", re.sub(r"[`|]|\*\*", " ", text)).strip()


def title_of(path):
    return words(read(path).split("\n")[0].lstrip("# "))


def groups(index, folder):
    """The sections of the index that have a table of links, with the files that the rows name."""
    for part in re.split(r"^## ", index, flags=re.M)[1:]:
        links = re.findall(r"^\| \[[^\]]*\]\(([^)#]+)\) \|", part, re.M)
        if links:
            yield part.split("\n")[0], [os.path.normpath(os.path.join(folder, link)) for link in links]


def texts(path, source):
    """A page by its sections: the title of the page, the heading, the address in the site, the words."""
    name = doxygen_filter.page_name(path)
    file, title = ("index" if name == doxygen_filter.MAIN else name) + ".html", None
    for heading, anchor, text in doxygen_filter.sections(source, path):
        heading = words(heading)
        title = title or heading
        yield [title, "" if anchor == name else heading, file if anchor == name else f"{file}#{anchor}", words(text)]


def layout(default, tutorial, named):
    """Doxygen's layout with the navigation of the site: entries are (page, title), groups (title, entries)."""
    def head(kind, title, page=""):
        url = f' url="@ref {page}"' if page else ""
        return f'<tab type="{kind}" visible="yes"{url} title="{html.escape(title, quote=False)}"'

    def entry(page, title):
        return head("user", title, page) + "/>"

    def group(title, entries, page=""):
        return head("usergroup", title, page) + ">" + "".join(entry(*e) for e in entries) + "</tab>"

    tabs = ['<tab type="mainpage" visible="yes" title=""/>', entry("search-pages", "Search"), entry("README", "Overview"),
            group("Tutorial", tutorial, "apps-tutorial-README")]
    tabs += [group(*g) for g in named] + [REFERENCE]
    inside = "<navindex>\n    " + "\n    ".join(tabs) + "\n  </navindex>"
    return re.sub(r"<navindex>.*</navindex>", lambda m: inside, default, flags=re.S)


def build(out):
    os.makedirs(out, exist_ok=True)
    lessons = sorted(glob.glob("apps/tutorial/[0-9]*.txt"))
    named = list(groups(read(INDEX), os.path.dirname(INDEX)))
    pages = [INDEX, OVERVIEW, TUTORIAL, *lessons, *(page for _, group in named for page in group)]

    def entries(files):
        return [(doxygen_filter.page_name(f), title_of(f)) for f in files]

    subprocess.run(["doxygen", "-l", f"{out}/layout.xml"], check=True)
    write(f"{out}/layout.xml", layout(read(f"{out}/layout.xml"), entries(lessons), [(title, entries(files)) for title, files in named]))
    index = [section for page in dict.fromkeys(pages) for section in texts(page, read(page))]
    write(f"{out}/texts.js", "const texts = " + json.dumps(index, ensure_ascii=False, separators=(",", ":")) + ";\n")
    write(f"{out}/search.md", SEARCH)
    write(f"{out}/Doxyfile", DOXYFILE.format(out=out, lessons=" ".join(lessons)))
    done = subprocess.run(["doxygen", f"{out}/Doxyfile"], check=False)
    for address in {section[2].split("#")[0] for section in index}:
        if not os.path.exists(f"{out}/html/{address}"):
            sys.exit(f"{out}/html/{address}: a page of the navigation was not made")
    return done.returncode


def self_test():
    def expect(found, expected):
        if found != expected:
            sys.exit(f"expected\n{expected}\nfound\n{found}")

    index = "# I\n\n## A\n\n| page | says |\n|---|---|\n| [a](a.md) | b |\n| [c](../c.md) | d |\n\n## B\n\n[e](e.md)\n"
    expect(list(groups(index, "docs")), [("A", ["docs/a.md", "c.md"])])
    expect(words("- [a `b`](c.md), **d**\n|---|---|\n| e | f |\n"), "a b , d e f")
    expect(list(texts("docs/a.md", "# A b\none\n## `C`\ntwo\n```\n## no\n```\n")),
           [["A b", "", "docs-a.html", "one"], ["A b", "C", "docs-a.html#docs-a-c", "two ## no"]])
    expect(layout("x<navindex>\n</navindex>y", [("l", "L & m")], [("G", [("p", "P")])]).count("<tab "), 11)


def main():
    arguments = sys.argv[1:]
    if arguments in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    return build(arguments[0])


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Every tracked text spells American, as LLVM does: pages, comments, messages, names of tests and of what is private.

  neighbour, behaviour, colour       neighbor, behavior, color
  normalise, optimisation            normalize, optimization
  centre, labelled, grey, towards    center, labeled, gray, toward

Names that others call stay as they are (NAMES).

  scripts/check_words.py [FILE...]      prints every word with its place, exit code 1 if there is one; without files: all that git tracks
  scripts/check_words.py --mend         replaces them; then run clang-format on what changed
  scripts/check_words.py --self-test
"""
import functools
import re
import subprocess
import sys

NAMES = ["equalise_histogram", "rgb_to_grey",  # ops::
         "initialise_monitor_handles"]         # of newlib
OUR = "armour behaviour colour endeavour favour flavour honour labour neighbour rumour vapour"
ISE = """apolog author binar canonical capital categor central character container critic crystall custom decentral digit discret emphas
equal factor fertil final formal general harmon hypothes ideal initial internal item legal linear local magnet material maxim
memo memor minim mobil modern neutral normal optim organ parallel parametr penal personal polar popular priorit public quant random
raster rational real recogn regular sanit scrutin serial special stabil standard subsid summar symbol sympath synchron synthes
systemat theor token trivial util vector visual"""
DOUBLED = "cancel channel dial equal fuel funnel initial label level marshal model panel signal spiral total travel tunnel unravel"
FIXED = {"acknowledgement": "acknowledgment", "ageing": "aging", "aluminium": "aluminum", "amongst": "among", "artefact": "artifact",
         "biassed": "biased", "calibre": "caliber", "centred": "centered", "centring": "centering", "centre": "center",
         "defence": "defense", "fibre": "fiber", "focussed": "focused", "grey": "gray", "judgement": "judgment", "learnt": "learned",
         "licence": "license", "litre": "liter", "manoeuvre": "maneuver", "mould": "mold", "offence": "offense",
         "orientated": "oriented", "sceptic": "skeptic", "skilful": "skillful", "spelt": "spelled", "towards": "toward",
         "whilst": "while"}
WHOLE = {"programme": "program", "programmes": "programs", "fulfil": "fulfill", "fulfils": "fulfills", "enrol": "enroll"}


def either(words):
    return "|".join(words.split() if isinstance(words, str) else words)


RULES = [
    (re.compile(rf"({either(OUR)})", re.I), lambda m: m[1][:-2] + m[1][-1]),
    (re.compile(rf"({either(ISE)})(i)(s)(?=e|ing|ation|able)", re.I), lambda m: m[1] + m[2] + ("Z" if m[3] == "S" else "z")),
    (re.compile(r"(analy)(s)(?=ed|ing|er|e(?![a-z]))", re.I), lambda m: m[1] + ("Z" if m[2] == "S" else "z")),
    (re.compile(rf"({either(DOUBLED)})l(?=ed|ing|er)", re.I), lambda m: m[1]),
    (re.compile(r"(?<![a-z])((?:centi|deci|kilo|micro|milli|nano)?met)re(?=s?(?![a-z]))", re.I), lambda m: m[1] + "er"),
    (re.compile(rf"({either(FIXED)})", re.I), lambda m: in_case_of(m[1], FIXED[m[1].lower()])),
    (re.compile(rf"(?<![a-z])({either(WHOLE)})(?![a-z])", re.I), lambda m: in_case_of(m[1], WHOLE[m[1].lower()])),
]
TOKEN = re.compile(r"[A-Za-z_]\w*")
SELF = "scripts/check_words.py"


def in_case_of(word, other):
    return other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other


@functools.cache
def american(token):
    if not any(name in token for name in NAMES):
        for pattern, replacement in RULES:
            token = pattern.sub(replacement, token)
    return token


def mended(text):
    """The text in American spelling, and for each change its line, the word and its replacement."""
    if all(american(token) == token for token in set(TOKEN.findall(text))):
        return text, []
    changes = [(text.count("\n", 0, m.start()) + 1, m[0], american(m[0])) for m in TOKEN.finditer(text) if american(m[0]) != m[0]]
    return TOKEN.sub(lambda m: american(m[0]), text), changes


def self_test():
    pairs = {"neighbours": "neighbors", "Neighbouring": "Neighboring", "COLOURS": "COLORS", "legalise_test": "legalize_test",
             "Synchroniser": "Synchronizer", "uninitialised": "uninitialized", "centred": "centered", "decimetres": "decimeters",
             "labelled": "labeled", "analysed": "analyzed", "Towards": "Toward", "offences": "offenses", "grey_": "gray_",
             "analyses": "analyses", "otherwise": "otherwise", "programmed": "programmed", "parameters": "parameters",
             "called": "called", "rgb_to_grey": "rgb_to_grey", "synthesis": "synthesis", "cancellation": "cancellation",
             "precise": "precise", "recurrence": "recurrence", "supervise": "supervise", "unrolled": "unrolled"}
    wrong = [f"{a}: {mended(a)[0]}, expected {b}" for a, b in pairs.items() if mended(a)[0] != b]
    if mended("a\nb colour\nrgb_to_grey\ngrey")[1] != [(2, "colour", "color"), (4, "grey", "gray")]:
        wrong.append("the lines of words")
    print("\n".join(wrong) or f"words: {len(pairs)} cases")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    mend = sys.argv[1:2] == ["--mend"]
    names = sys.argv[2 if mend else 1:]
    if not names:
        names = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True).stdout.split("\0")
    count = read = 0
    for name in filter(None, names):
        try:
            with open(name, encoding="utf-8", newline="") as f:
                text = f.read()
        except (UnicodeDecodeError, IsADirectoryError):  # pictures and other data
            continue
        read += 1
        other, changes = mended(text) if name != SELF else (text, [])
        count += len(changes)
        if mend and changes:
            with open(name, "w", encoding="utf-8", newline="") as f:
                f.write(other)
        elif not mend:
            for line, word, instead in changes:
                print(f"{name}:{line}: {word}: expected {instead}", file=sys.stderr)
    print(f"words: {read} files, {count} {'replaced' if mend else 'words that are not American'}")
    return 1 if (count and not mend) or not read else 0


if __name__ == "__main__":
    sys.exit(main())

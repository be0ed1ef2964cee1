#!/usr/bin/env python3
"""Splits the tests of a build folder into parts that take about the same time, for machines that run one each.

  test_parts.py BUILD --part 2/3              the build targets of part 2, a line, and the regular expression for ctest -R
  test_parts.py BUILD --part 2/3 --show       the same for people: what each part builds and runs, and for how long
  test_parts.py --self-test

A part builds only what its tests name, so its time is that of the objects it needs (each counted once, however many tests need
it) and of its tests. Tests that share a fixture or wait for one another stay together. The split is a function of the build
folder and of tests/seconds.txt alone: the parts of one commit are disjoint and together are all tests.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

OBJECT_SECONDS = 5  # an optimized C++ file with address and undefined behavior sanitizers
TEST_OBJECT_SECONDS = 11  # a test's, which is larger and not optimized
SLOWER = 3  # a test with sanitizers, of one without
DEFAULT_SECONDS = 1  # of a test that tests/seconds.txt does not list

CALL = re.compile(r'^(add_test|set_tests_properties)\((?:\[=*\[)?(.+?)(?:\]=*\]|(?=[ )]))(.*)$')
PROPERTY = re.compile(r'(FIXTURES_SETUP|FIXTURES_REQUIRED|FIXTURES_CLEANUP|DEPENDS) "([^"]*)"')


class Test:
    def __init__(self, name):
        self.name = name
        self.text = ''  # all that its calls say
        self.together = set()  # names of fixtures and of tests


def read_tests(text, tests):
    """The calls of one CTestTestfile.cmake; a call is one line, but for strings that hold line breaks."""
    current = None
    for line in text.splitlines():
        call = CALL.match(line)
        if call:
            current = tests.setdefault(call.group(2), Test(call.group(2)))
            line = call.group(3)
        elif line.startswith(('#', 'subdirs(')):
            current = None
        if current is None:
            continue
        line = re.sub(r'_BACKTRACE_TRIPLES "[^"]*"', '', line)
        current.text += line + '\n'
        for what, names in PROPERTY.findall(line):
            kind = 'test ' if what == 'DEPENDS' else 'fixture '
            current.together.update(kind + name for name in names.split(';'))


def paths_within(text, build):
    """What of the build folder the text names; a path ends at a quote, a space, or a separator of lists."""
    return {m.group(1).rstrip('/') for m in re.finditer(re.escape(str(build)) + r'/([^"\s;:,)]+)', text)}


def groups_of(tests):
    """Lists of tests that stay together, in the order of their first."""
    leader = {name: name for name in tests}

    def find(name):
        while leader[name] != name:
            name = leader[name]
        return name

    first_of = {}
    for name, test in tests.items():
        for key in sorted(test.together):
            other = key[len('test '):] if key.startswith('test ') else first_of.setdefault(key, name)
            if other in leader:
                leader[find(name)] = find(other)
    groups = {}
    for name in tests:
        groups.setdefault(find(name), []).append(name)
    return list(groups.values())


def packed(groups, parts, thrift):
    """The longest group first, each into the part that stays shortest with it; `thrift` counts objects that a part would need
    for this group alone once more, so that what shares objects goes together."""
    made = [{'names': [], 'seconds': 0.0, 'objects': {}} for _ in range(parts)]

    def more(part, group):
        return sum(s for o, s in group[2].items() if o not in part['objects'])

    for group in sorted(groups, key=lambda g: (-g[1] - sum(g[2].values()), g[0])):
        part = min(made, key=lambda p: p['seconds'] + group[1] + (1 + thrift) * more(p, group))
        part['seconds'] += group[1] + more(part, group)
        part['objects'].update(group[2])
        part['names'] += group[0]
    return made


def split(groups, parts):
    """groups: (names, seconds, {object: seconds}). Of several ways that whose longest part is the shortest."""
    ways = [packed(groups, parts, thrift) for thrift in (0, 0.5, 1, 2, 4)]
    return min(ways, key=lambda made: max(part['seconds'] for part in made))


def object_seconds(path):
    return TEST_OBJECT_SECONDS if path.startswith('tests/') else OBJECT_SECONDS


class Ninja:
    def __init__(self, build):
        self.build = build
        self.outputs = {line.split(': ')[0] for line in self.run('-t', 'targets', 'all').splitlines()}

    def run(self, *arguments):
        return subprocess.run(['ninja', '-C', self.build, '--quiet', *arguments], check=True, capture_output=True, text=True).stdout

    def objects(self, targets):
        if not targets:
            return {}
        inputs = self.run('-t', 'inputs', *sorted(targets)).splitlines()
        return {i.strip(): object_seconds(i.strip()) for i in inputs if i.strip().endswith('.o')}


def parts_of(build, count, seconds):
    ninja = Ninja(build)
    tests = {}
    installed = ''
    folders = [pathlib.Path(build)]
    for folder in folders:  # those that CMake configured, not what tests build within
        if (folder / 'CTestTestfile.cmake').exists():
            text = (folder / 'CTestTestfile.cmake').read_text()
            read_tests(text, tests)
            folders += [folder / name for name in re.findall(r'^subdirs\("([^"]*)"\)', text, re.M)]
        if (folder / 'cmake_install.cmake').exists():
            installed += (folder / 'cmake_install.cmake').read_text()
    if not tests:
        sys.exit(f'test_parts: no tests in {build}')
    targets = {}
    for name, test in tests.items():
        text = test.text + (installed if '"--install"' in test.text else '')
        targets[name] = paths_within(text, build) & ninja.outputs
    by_targets = {}  # tests of the same programs cost one part what they cost one test
    groups = []
    for names in groups_of(tests):
        needed = frozenset(t for n in names for t in targets[n])
        cost = sum(seconds.get(n, DEFAULT_SECONDS) * SLOWER for n in names)
        groups.append((names, cost, by_targets.setdefault(needed, ninja.objects(needed))))
    made = split(groups, count)
    for part in made:
        part['targets'] = sorted({t for n in part['names'] for t in targets[n]})
    return made


def self_test():
    tests = {}
    read_tests('# comment\nadd_test([=[one]=] "/b/bin/test_one" "x y")\n'
               'set_tests_properties([=[one]=] PROPERTIES  ENVIRONMENT "L=/b/lib/standin.so;M=1" _BACKTRACE_TRIPLES "/b/no;1")\n'
               'add_test(two "sh" "-c" "a\n\\"$1\\"" "/b/bin/two")\n'
               'set_tests_properties(two PROPERTIES DEPENDS "one" FIXTURES_REQUIRED "f")\n'
               'add_test([=[three]=] "/b/bin/three")\nset_tests_properties([=[three]=] PROPERTIES FIXTURES_SETUP "f")\n'
               'add_test([=[four]=] "/b/bin/four")\nsubdirs("uses")\n', tests)
    assert list(tests) == ['one', 'two', 'three', 'four'], list(tests)
    assert paths_within(tests['one'].text, '/b') == {'bin/test_one', 'lib/standin.so'}, tests['one'].text
    assert paths_within(tests['two'].text, '/b') == {'bin/two'}
    assert sorted(map(sorted, groups_of(tests))) == [['four'], ['one', 'three', 'two']]
    shared = {'lib.o': 100.0}
    made = split([(['a'], 50, shared), (['b'], 40, {**shared, 'b.o': 1}), (['c'], 120, {}), (['d'], 10, {})], 2)
    assert [sorted(p['names']) for p in made] == [['a', 'b'], ['c', 'd']], made  # what shares objects goes together
    assert made[0]['seconds'] == 191 and made[1]['seconds'] == 130
    assert sorted(n for p in made for n in p['names']) == ['a', 'b', 'c', 'd']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', nargs='?')
    parser.add_argument('--part', default='1/1')
    parser.add_argument('--seconds', default=pathlib.Path(__file__).parent.parent / 'tests' / 'seconds.txt')
    parser.add_argument('--show', action='store_true')
    parser.add_argument('--self-test', action='store_true')
    given = parser.parse_args()
    if given.self_test:
        return self_test()
    wanted = re.fullmatch(r'(\d+)/(\d+)', given.part)
    if not wanted or not 1 <= int(wanted.group(1)) <= int(wanted.group(2)):
        sys.exit(f'test_parts: --part is "{given.part}", expected I/N with I from 1 to N, as 2/3')
    if not given.build:
        sys.exit('test_parts: a build folder is missing')
    seconds = {}
    for line in pathlib.Path(given.seconds).read_text().splitlines():
        if line and not line.startswith('#'):
            name, value = line.split()
            seconds[name] = float(value)
    made = parts_of(os.path.abspath(given.build), int(wanted.group(2)), seconds)
    if given.show:
        for k, part in enumerate(made, 1):
            print(f'part {k}: {len(part["names"])} tests, {len(part["objects"])} objects, {len(part["targets"])} targets, '
                  f'{part["seconds"] / 60:.0f} minutes of a processor: {" ".join(sorted(part["names"]))}')
        return None
    part = made[int(wanted.group(1)) - 1]
    print(' '.join(part['targets']))
    print('^(' + '|'.join(re.escape(n).replace('\\-', '-') for n in sorted(part['names'])) + ')$')
    return None


if __name__ == '__main__':
    main()

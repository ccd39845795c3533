"""What the compiler does not check about the sources: lint.py prints every violation below the repository's root.

Each rule is a function from the tree ({path: text}) to messages "path:line: what is wrong".
"""

import os
import pathlib
import re
import sys

FOLDERS = ['framework', 'optim', 'dist', 'datasets', 'tutorials', 'tests']
SEPARATE = 'tests/bench'  # programs with a Makefile and rules of their own
SOURCES = ('.h', '.cpp', '.cu')
SCRIPTS = ('.py', '.sh', '/run')
BUILD_FILES = ('meson.build',)

# Folder -> the folders that its files may include. The longest folder that matches a path counts; what is not listed
# here (tests, tutorials) may include everything.
MAY_INCLUDE = {
    'framework/core': ['framework/core'],
    'framework/backend': ['framework/core', 'framework/backend'],
    'framework/autograd': ['framework/core', 'framework/backend', 'framework/autograd'],
    'framework/ops': ['framework/core', 'framework/backend', 'framework/autograd', 'framework/ops'],
    'framework/nn': ['framework/core', 'framework/autograd', 'framework/ops', 'framework/nn'],
    'framework/io': ['framework/core', 'framework/io'],
    'optim': ['framework/core', 'optim'],
    'dist': ['framework/core', 'framework/io', 'optim', 'dist'],
    'dist/launch': ['framework', 'optim', 'dist', 'datasets'],
    'datasets': ['framework/core', 'framework/io', 'datasets'],
}

# A rule of optim/ is what the paper says; who runs it where is up to dist/.
THREADS_AND_SOCKETS = re.compile(
    r'<(thread|mutex|shared_mutex|atomic|condition_variable|future|barrier|latch|semaphore|omp\.h|pthread\.h'
    r'|sys/.*|netinet/.*|arpa/.*|boost/asio.*)>')

LONGEST_FILE = 400
# Path -> why this file is better long than split.
LONG_FILES = {}


def read_tree(root):
    tree = {}
    for folder in FOLDERS:
        for place, _, names in os.walk(root / folder):
            for name in names:
                file = pathlib.Path(place, name)
                path = file.relative_to(root).as_posix()
                if path.endswith(SOURCES + SCRIPTS + BUILD_FILES) and not is_inside(path, SEPARATE):
                    tree[path] = file.read_text(encoding='utf-8')
    tree['meson.build'] = (root / 'meson.build').read_text(encoding='utf-8')
    return tree


def is_inside(path, folder):
    return path.startswith(folder + '/')


def lines_of(tree, endings):
    for path, text in tree.items():
        if path.endswith(endings):
            for number, line in enumerate(text.splitlines(), 1):
                yield path, number, line


def includes(tree):
    """(path, line number, what is included with its brackets or quotes)"""
    for path, number, line in lines_of(tree, SOURCES):
        found = re.match(r'\s*#\s*include\s*(<[^>]+>|"[^"]+")', line)
        if found:
            yield path, number, found.group(1)


def dependencies_point_one_way(tree):
    for path, number, included in includes(tree):
        folder = max((f for f in MAY_INCLUDE if is_inside(path, f)), key=len, default=None)
        target = included.strip('"')
        if folder is None or included.startswith('<'):
            continue
        allowed = MAY_INCLUDE[folder]
        # dist/launch is inside dist, but is on top of it.
        forbidden_part = folder != 'dist/launch' and is_inside(target, 'dist/launch')
        if forbidden_part or not any(is_inside(target, a) for a in allowed):
            yield f'{path}:{number}: {folder} must not include {included}; it may include {", ".join(allowed)}'


def includes_start_at_the_root(tree):
    for path, number, included in includes(tree):
        target = included.strip('"')
        if included.startswith('"') and not any(is_inside(target, f) for f in FOLDERS):
            yield f'{path}:{number}: {included}: write the path from the repository\'s root'


def rules_know_no_threads(tree):
    for path, number, included in includes(tree):
        if is_inside(path, 'optim') and THREADS_AND_SOCKETS.fullmatch(included):
            yield f'{path}:{number}: optim knows no threads and no sockets, but includes {included}'


def files_are_short(tree):
    for path, text in tree.items():
        length = len(text.splitlines())
        if path.endswith(SOURCES) and length > LONGEST_FILE and path not in LONG_FILES:
            yield f'{path}:{LONGEST_FILE}: {length} lines: split it, or give the reason in LONG_FILES of lint.py'
    for path in LONG_FILES:
        if len(tree.get(path, '').splitlines()) <= LONGEST_FILE:
            yield f'{path}:1: is not long (any more): take it out of LONG_FILES of lint.py'


def arithmetic_is_exact(tree):
    """These flags turn NaN into nonsense and make the bits depend on the compiler."""
    for path, number, line in lines_of(tree, SOURCES + BUILD_FILES):
        found = re.search(r'-ffast-math|-Ofast|-funsafe-math-optimizations|-ffinite-math-only|fast-math"', line)
        if found:
            yield f'{path}:{number}: {found.group()} is never used here'


def nothing_is_half_done(tree):
    for path, number, line in lines_of(tree, SOURCES + SCRIPTS + BUILD_FILES):
        found = re.search(r'\b(TO[D]O|FIX[M]E|XX[X]|HAC[K])\b', line)  # not found in this very line
        if found:
            yield f'{path}:{number}: {found.group()}: finish it, or file an issue'


def headers_have_a_guard(tree):
    for path, text in tree.items():
        if path.endswith('.h') and '#pragma once' not in text:
            yield f'{path}:1: no #pragma once'


def sources_are_built(tree):
    """A source that no build file names is dead."""
    for path in tree:
        if not path.endswith(('.cpp', '.cu')):
            continue
        folders = [str(p) for p in pathlib.PurePosixPath(path).parents]
        build_files = [tree.get('meson.build' if f == '.' else f'{f}/meson.build', '') for f in folders]
        name = path.split('/')[-1]
        stem = f"'{name.split('.')[0]}'"  # of a loop over names
        if not any(name in text or stem in text for text in build_files):
            yield f'{path}:1: no build file in its folder or above names it'


def layers_have_their_gradients_checked(tree):
    """Operations are checked by the table of tests/ops; a layer must be named in a test that checks gradients."""
    checks = '\n'.join(text for path, text in tree.items() if is_inside(path, 'tests/nn') and 'grad_check' in text)
    layer = re.compile(r'^struct (\w+) \{(?:(?!^\};).)*?Tensor operator\(\)', re.MULTILINE | re.DOTALL)
    for path, text in tree.items():
        if is_inside(path, 'framework/nn') and path.endswith('.h'):
            for name in layer.findall(text):
                if not re.search(rf'\b{name}\b', checks):
                    yield f'{path}:1: no grad_check in tests/nn is about {name}'


RULES = [
    dependencies_point_one_way,
    includes_start_at_the_root,
    rules_know_no_threads,
    files_are_short,
    arithmetic_is_exact,
    nothing_is_half_done,
    headers_have_a_guard,
    sources_are_built,
    layers_have_their_gradients_checked,
]

if __name__ == '__main__':
    whole_tree = read_tree(pathlib.Path(__file__).resolve().parents[2])
    violations = [message for rule in RULES for message in rule(whole_tree)]
    print(*violations, sep='\n')
    sys.exit(len(violations) > 0)

"""The sources keep the rules of lint.py, and each rule finds a violation: lint_test.py RESULT_FILE"""

import pathlib
import sys

import junit
import lint

# Per rule: a tree that breaks it, and how many messages it must give.
BAD_TREES = {
    lint.dependencies_point_one_way: ({
        'framework/core/a.h': '#include "framework/ops/b.h"\n',
        'framework/ops/b.h': '#include "framework/nn/c.h"\n#include "framework/core/a.h"\n',
        'optim/d.h': '#include "dist/e.h"\n',
        'dist/e.cpp': '#include "framework/nn/c.h"\n#include "dist/launch/f.h"\n#include "optim/d.h"\n',
        'dist/launch/f.h': '#include "framework/nn/c.h"\n#include "dist/e.h"\n#include <vector>\n',
        'datasets/g.h': '  #  include "optim/d.h"\n',
    }, 6),
    lint.includes_start_at_the_root: ({'optim/a.h': '#include "b.h"\n#include "optim/b.h"\n#include <c.h>\n'}, 1),
    lint.rules_know_no_threads: ({
        'optim/a.h': '#include <thread>\n#include <sys/socket.h>\n#include <vector>\n',
        'dist/b.h': '#include <thread>\n',
    }, 2),
    lint.files_are_short: ({'optim/a.h': '\n' * 401, 'optim/b.h': '\n' * 400}, 1),
    lint.arithmetic_is_exact: ({
        'meson.build': "add_project_arguments('-ffast-math')\n",
        'optim/a.h': '#pragma GCC optimize "fast-math"\n',
    }, 2),
    lint.nothing_is_half_done: ({'optim/a.h': '// TO' 'DO: later\n', 'optim/b.h': 'int TODOS;\n'}, 1),
    lint.headers_have_a_guard: ({'optim/a.h': 'int a;\n', 'optim/b.h': '#pragma once\n'}, 1),
    lint.sources_are_built: ({
        'optim/meson.build': "files('a.cpp')\nforeach name : ['c']\n",
        'optim/c.cpp': '',
        'optim/a.cpp': '',
        'optim/compress/b.cpp': '',
    }, 1),
    lint.layers_have_their_gradients_checked: ({
        'framework/nn/a.h': 'struct A {\n  Tensor operator()(x);\n};\n\nstruct B {\n  Tensor operator()(x);\n};\n',
        'framework/nn/options.h': 'struct Options {\n  int a;\n};\nTensor operator()(x);\n',
        'tests/nn/a.cpp': 'grad_check(A)',
        'tests/nn/b.cpp': 'B',
    }, 1),
}


def kept_by_the_sources(rule):
    def case():
        violations = list(rule(lint.read_tree(pathlib.Path(lint.__file__).resolve().parents[2])))
        assert not violations, '\n' + '\n'.join(violations)

    case.__name__ = rule.__name__
    return case


def found_where_broken(rule):
    def case():
        tree, expected = BAD_TREES[rule]
        violations = list(rule(tree))
        assert len(violations) == expected, f'{expected} violations expected, found: {violations}'

    case.__name__ = rule.__name__ + '_can_fail'
    return case


def the_tree_is_read():
    tree = lint.read_tree(pathlib.Path(lint.__file__).resolve().parents[2])
    assert 'meson.build' in tree and 'framework/core/tensor.h' in tree and len(tree) > 50, sorted(tree)


junit.run([the_tree_is_read] + [make(rule) for rule in lint.RULES for make in (kept_by_the_sources, found_where_broken)],
          sys.argv[1])

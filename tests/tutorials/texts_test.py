"""What the texts say is so: texts_test.py RESULT_FILE, with TARDYGRAD_SOURCE_ROOT and TARDYGRAD_BUILD_ROOT set

Code under <!-- from PATH --> stands in that file (there perhaps further to the right), links lead somewhere, the
options of commands exist, and docs/runs.md lists the commands that look at a run with all of their options.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import textwrap

import junit

root = pathlib.Path(os.environ['TARDYGRAD_SOURCE_ROOT'])
build = pathlib.Path(os.environ['TARDYGRAD_BUILD_ROOT'])
texts = {
    path.relative_to(root).as_posix(): path.read_text()
    for path in [root / 'README.md', *sorted((root / 'docs').rglob('*.md')), *sorted((root / 'tutorials').rglob('*.md'))]
}
BLOCK = re.compile(r'^```(\w*)\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def wrong_code(name, text):
    for path, code in re.findall(r'^<!-- from (\S+) -->\n```\w*\n(.*?)^```$', text, re.MULTILINE | re.DOTALL):
        if not any(textwrap.indent(code, ' ' * n) in (root / path).read_text() for n in (0, 2, 4)):
            yield f'{name}: this is not in {path}:\n{code}'


def dead_links(name, text):
    for target in re.findall(r'(?:\]\(|src=")([^)"#\s]+)', BLOCK.sub('', text)):
        if '://' not in target and not (root / name).parent.joinpath(target).exists():
            yield f'{name}: there is no {target}'


def commands(text):
    for language, code in BLOCK.findall(text):
        if language == 'sh':
            for line in code.replace('\\\n', ' ').splitlines():
                if re.match(r'build/tardygrad (train|compare|replay|explain|trace)\b', line):
                    yield line


def tardygrad(*words):
    return subprocess.run([build / 'tardygrad', *words], capture_output=True, text=True, cwd='/')


def refused_commands(name, text):
    """Options are looked at before data and runs, so folders that are not there show that all of them are right."""
    for line in commands(text):
        words = shlex.split(line, comments=True)[1:]
        makes_a_run = words[0] in ('train', 'compare') and '--paired' not in words
        done = tardygrad(*words, '--data-dir', '/no/such/folder')
        expected = '/no/such/folder: no such folder' if makes_a_run else 'config.json: No such file or directory'
        if done.returncode != 1 or expected not in done.stderr:
            yield f'{name}: {line}\n{done.stdout}{done.stderr}'


def the_commands_that_look_at_a_run_are_listed_with_their_options():
    subcommands = re.findall(r'^  (\w+)  ', tardygrad('--help').stdout.split('Subcommands:')[1], re.MULTILINE)
    expected = {}
    for command in subcommands:
        usage = tardygrad(command, '--help').stdout
        if re.search(r'^  run DIR ', usage, re.MULTILINE):
            expected[command] = set(re.findall(r'^  (--[\w-]+)', usage, re.MULTILINE))
    listed = {command: set(re.findall(r'--[\w-]+', options)) for command, options in re.findall(
        r'^\| `tardygrad (\w+) RUN` \|.*\|(.*)\|$', texts['docs/runs.md'], re.MULTILINE)}
    assert listed == expected and len(expected) >= 2, (listed, expected)


def none_in_the_texts(check):
    def case():
        found = [message for name, text in texts.items() for message in check(name, text)]
        assert not found, '\n' + '\n'.join(found)

    case.__name__ = f'no_{check.__name__}'
    return case


def found_where_there_are(check, text, expected):
    def case():
        found = list(check('README.md', text))
        assert len(found) == expected, found

    case.__name__ = f'{check.__name__}_are_found'
    return case


def the_texts_are_read():
    assert 'README.md' in texts and 'tutorials/00_quickstart/README.md' in texts and len(texts) > 5, sorted(texts)
    assert sum(text.count('<!-- from ') for text in texts.values()) >= 2
    assert sum(len(list(commands(text))) for text in texts.values()) >= 3


junit.run([
    the_texts_are_read,
    the_commands_that_look_at_a_run_are_listed_with_their_options,
    none_in_the_texts(wrong_code),
    none_in_the_texts(dead_links),
    none_in_the_texts(refused_commands),
    found_where_there_are(wrong_code, '<!-- from LICENSE -->\n```\nno licence\n```\n', 1),
    found_where_there_are(dead_links, '[a](nowhere.md) [b](LICENSE#part) [c](https://d.e) [here](#part)\n'
                          '<img src="nowhere.svg">\n```\n[f](g)\n```\n', 2),
    found_where_there_are(refused_commands,
                          '```sh\nbuild/tardygrad train --epoch 1\nbuild/tardygrad train \\\n  --lr 0.1  # fine\n'
                          'build/tardygrad explain r --updat 3\nbuild/tardygrad trace r --updates 1..2\n```\n', 2),
], sys.argv[1])

"""setup.sh and count_results.py, with stand-ins for apt, dpkg and meson: setup_test.py RESULT_FILE"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import junit

TESTS = pathlib.Path(__file__).resolve().parents[1]
REAL_TOOLS = ['bash', 'grep', 'awk', 'env', 'dirname', 'cat']


def bash(command, stand_ins, variables=None):
    """Runs `command` after setup.sh where only REAL_TOOLS and the stand-ins exist; returns the finished process."""
    with tempfile.TemporaryDirectory() as folder:
        for tool in REAL_TOOLS:
            os.symlink(shutil.which(tool), f'{folder}/{tool}')
        for name, script in {'uname': 'echo x86_64', 'id': 'echo 0', **stand_ins}.items():
            tool = pathlib.Path(folder, name)
            tool.write_text(f'#!{shutil.which("bash")}\n{script}\n')
            tool.chmod(0o755)
        return subprocess.run([shutil.which('bash'), '-euc', f'source {TESTS}/setup.sh; {command}'], text=True,
                              capture_output=True, env={'PATH': folder, **(variables or {})}, timeout=20)


def expect(process, status, *texts):
    output = process.stdout + process.stderr
    assert process.returncode == status, f'status {process.returncode}, expected {status}: {output}'
    for text in texts:
        assert text in output, f'no "{text}" in: {output}'


ALL_INSTALLED = 'for p; do [[ $p == -* || $p == *{* ]] || echo "$p installed"; done'
# A removed package that left its configuration is known to dpkg, but is not there.
TWO_MISSING = ALL_INSTALLED + ' | sed "s/^meson installed/meson config-files/" | grep -v ^libdnnl-dev'
APT = 'echo "apt: $*"'


def two_missing(**more):
    return {'dpkg-query': TWO_MISSING.replace('sed', shutil.which('sed')), 'apt-get': APT, **more}


def no_apt_call_where_nothing_is_missing():
    process = bash('install_packages', {'dpkg-query': ALL_INSTALLED, 'apt-get': APT})
    expect(process, 0)
    assert 'apt:' not in process.stdout, process.stdout


def only_the_missing_are_installed():
    process = bash('install_packages', two_missing())
    expect(process, 0, ' update\n', ' install --no-install-recommends meson libdnnl-dev\n')
    assert process.stdout.count('apt:') == 2, process.stdout


def no_install_lists_the_missing():
    process = bash('install_packages --no-install', two_missing())
    expect(process, 1, 'not installed: meson libdnnl-dev.')
    assert 'apt:' not in process.stdout, process.stdout


def no_install_needs_nothing_where_all_is_there():
    expect(bash('install_packages --no-install', {'dpkg-query': ALL_INSTALLED, 'apt-get': APT}), 0)


def sudo_is_used_where_it_exists():
    expect(bash('install_packages', two_missing(id='echo 1000', sudo='echo sudo: "$@"; "$@"')), 0,
           'sudo: env DEBIAN_FRONTEND=noninteractive apt-get', 'apt:')


def neither_root_nor_sudo():
    expect(bash('install_packages', two_missing(id='echo 1000')), 1,
           'run as root: apt-get install --no-install-recommends meson libdnnl-dev')


def no_network():
    expect(bash('install_packages', two_missing(**{'apt-get': 'exit 100'})), 1, 'connect this machine to the network')


def apt_fails_with_network():
    expect(bash('install_packages', two_missing(**{'apt-get': '[[ $* == *" update" ]]'})), 1, 'apt-get failed')


def old_lists_are_enough():
    expect(bash('install_packages', two_missing(**{'apt-get': '[[ $* != *" update" ]]'})), 0)


def no_debian():
    expect(bash('install_packages', {}), 1, 'libdnnl-dev', '--no-install')
    expect(bash('install_packages --no-install', {}), 0)


def old_processor():
    with tempfile.NamedTemporaryFile('w') as cpuinfo:
        print('flags\t\t: fpu avx f16c movbe abm fma bmi1 bmi2', file=cpuinfo, flush=True)
        expect(bash(f'check_cpu {cpuinfo.name}', {}), 1, "lacks 'avx2'")
        print('flags\t\t: fpu avx avx2 f16c movbe abm fma bmi1 bmi2', file=cpuinfo, flush=True)
        expect(bash(f'check_cpu {cpuinfo.name}', {'uname': 'echo aarch64'}), 0)


def new_processor():
    with tempfile.NamedTemporaryFile('w') as cpuinfo:
        print('flags\t\t: fpu avx avx2 f16c movbe abm fma bmi1 bmi2', file=cpuinfo, flush=True)
        expect(bash(f'check_cpu {cpuinfo.name}', {}), 0)


def wrong_compiler():
    for compiler in 'false', 'no-such-compiler':
        expect(bash('check_compiler', {'false': 'exit 1'}, {'CXX': compiler}), 1, f"'{compiler}'", 'set CXX=')
    expect(bash('check_compiler', {'ccache': '[[ $1 == g++ ]]'}, {'CXX': 'ccache g++'}), 0)


def jobs_fit_cores_and_memory():
    with tempfile.NamedTemporaryFile('w') as meminfo:
        print('MemTotal: 99999999 kB\nMemAvailable: 3500000 kB', file=meminfo, flush=True)
        for cores, jobs in (1, '1\n'), (2, '2\n'), (64, '3\n'):
            expect(bash(f'compile_jobs {meminfo.name}', {'nproc': f'echo {cores}'}), 0, jobs)


PASSED, FAILED, ERROR, SKIPPED = ('<testcase name="c"/>', '<testcase name="c"><failure/></testcase>',
                                  '<testcase name="c"><error/></testcase>', '<testcase name="c"><skipped/></testcase>')


def counted(programs, set_of_tests='usual'):
    """Last line and status of count_results.py. programs: name -> (suite, meson's verdict or None, XML or None)"""
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        (build / 'tests').mkdir()
        (build / 'meson-logs').mkdir()
        tests = [{'name': name, 'suite': [f'tardygrad:{suite}']} for name, (suite, _, _) in programs.items()]
        (build / 'meson').write_text(f"#!{shutil.which('bash')}\necho '{json.dumps(tests)}'\n")
        (build / 'meson').chmod(0o755)
        with open(build / 'meson-logs' / f'testlog-{set_of_tests}.json', 'w') as log:
            for name, (suite, verdict, xml) in programs.items():
                if verdict:
                    print(json.dumps({'name': f'tardygrad:{suite} / {name}', 'result': verdict}), file=log)
                if xml is not None:
                    (build / 'tests' / f'{name}.xml').write_text(xml)
        process = subprocess.run([sys.executable, TESTS / 'count_results.py', build, set_of_tests], text=True,
                                 capture_output=True, env={'PATH': folder}, timeout=20)
        return process.stdout.splitlines()[-1], process.returncode


def same(found, expected):
    assert found == expected, f'{found}, expected {expected}'


def cases_are_counted():
    good = ('usual', 'OK', f'<t>{PASSED}{PASSED}</t>')
    same(counted({'a': good, 'b': good}), ('4 passed, 0 failed', 0))
    same(counted({'a': good, 'b': ('usual', 'OK', f'<t><t>{PASSED}{SKIPPED}</t></t>')}),
         ('3 passed, 0 failed, 1 skipped', 0))
    same(counted({'a': good, 'b': ('usual', 'FAIL', f'<t>{FAILED}{ERROR}{PASSED}</t>')}), ('3 passed, 2 failed', 1))


def programs_without_a_result_are_failures():
    good = ('usual', 'OK', f'<t>{PASSED}</t>')
    for verdict, xml in [('FAIL', None), ('OK', None), ('OK', ''), ('TIMEOUT', f'<t>{PASSED}'), (None, None)]:
        same(counted({'a': good, 'b': ('usual', verdict, xml)}), ('1 passed, 1 failed', 1))
    # It passed its cases and then crashed, or meson never ran it and the file is an old one.
    for verdict in 'FAIL', 'TIMEOUT', None:
        same(counted({'a': good, 'b': ('usual', verdict, f'<t>{PASSED}</t>')}), ('2 passed, 1 failed', 1))


def nothing_passed_is_a_failure():
    same(counted({}), ('0 passed, 0 failed', 1))
    same(counted({'a': ('usual', 'OK', f'<t>{SKIPPED}</t>')}), ('0 passed, 0 failed, 1 skipped', 1))


def slow_tests_count_with_all_only():
    programs = {'a': ('usual', 'OK', f'<t>{PASSED}</t>'), 'b': ('all', 'OK', f'<t>{PASSED}</t>')}
    same(counted(programs), ('1 passed, 0 failed', 0))
    same(counted(programs, 'all'), ('2 passed, 0 failed', 0))


junit.run([
    no_apt_call_where_nothing_is_missing, only_the_missing_are_installed, no_install_lists_the_missing,
    no_install_needs_nothing_where_all_is_there, sudo_is_used_where_it_exists, neither_root_nor_sudo, no_network,
    apt_fails_with_network, old_lists_are_enough, no_debian, old_processor, new_processor, wrong_compiler,
    jobs_fit_cores_and_memory, cases_are_counted, programs_without_a_result_are_failures, nothing_passed_is_a_failure,
    slow_tests_count_with_all_only
], sys.argv[1])

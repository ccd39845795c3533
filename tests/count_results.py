"""Counts the test cases of a `meson test` run: count_results.py BUILD_FOLDER usual|all

Prints those that failed or were skipped and, last, "N passed, N failed[, N skipped]". Exits 1 if any failed or none
passed.
A program that crashed, timed out, was not run or left no whole result file counts as at least one failed case.
"""

import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree


def expected_programs(build, set_of_tests):
    listing = subprocess.run(['meson', 'introspect', '--tests', build], check=True, capture_output=True, text=True)
    tests = json.loads(listing.stdout)
    return [t['name'] for t in tests if set_of_tests == 'all' or not any(s.endswith(':all') for s in t['suite'])]


def verdicts(build):
    """Program -> meson's verdict ("OK", "FAIL", "TIMEOUT", ...)."""
    log = build / 'meson-logs' / f'testlog-{sys.argv[2]}.json'
    if not log.exists():
        return {}
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    return {e['name'].split(' / ')[-1]: e['result'] for e in entries}


def count(program, result_file, verdict):
    """(passed, failed, skipped) of one program; prints what failed and what was skipped."""
    passed = failed = skipped = 0
    problem = None if verdict == 'OK' else f'ended with {verdict}'
    try:
        cases = list(ElementTree.parse(result_file).iter('testcase'))
    except (OSError, ElementTree.ParseError):
        cases = []
        problem = f'{problem or "ended early"} and left no whole result file'
    for case in cases:
        if case.find('failure') is not None or case.find('error') is not None:
            failed += 1
            print(f'FAILED {program}: {case.get("name")}')
        elif (note := case.find('skipped')) is not None:
            skipped += 1
            print(f'SKIPPED {program}: {case.get("name")}' + (f': {note.get("message")}' if note.get('message') else ''))
        else:
            passed += 1
    if problem and failed == 0:
        failed = 1
        print(f'FAILED {program}: {problem}')
    return passed, failed, skipped


def main():
    build, set_of_tests = pathlib.Path(sys.argv[1]), sys.argv[2]
    verdict_of = verdicts(build)
    counts = [
        count(program, build / 'tests' / f'{program}.xml', verdict_of.get(program, 'no run at all'))
        for program in expected_programs(build, set_of_tests)
    ]
    passed, failed, skipped = (sum(column) for column in zip(*counts)) if counts else (0, 0, 0)
    print(f'{passed} passed, {failed} failed' + (f', {skipped} skipped' if skipped else ''))
    sys.exit(failed > 0 or passed == 0)


main()

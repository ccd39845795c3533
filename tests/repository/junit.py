"""Runs functions as test cases and writes their results as Boost.Test does, so that they are counted with the others."""

import sys
import traceback
import xml.etree.ElementTree as ElementTree


class Skipped(Exception):
    """A case raises it, with the reason, where it cannot be tried."""


def run(cases, result_file):
    """Calls each function; an exception is a failure. Writes `result_file`, then exits with 1 if one failed."""
    suite = ElementTree.Element('testsuite')
    failed = 0
    for case in cases:
        element = ElementTree.SubElement(suite, 'testcase', name=case.__name__)
        try:
            case()
        except Skipped as reason:
            ElementTree.SubElement(element, 'skipped', message=str(reason))
        except Exception:
            failed += 1
            text = traceback.format_exc()
            print(f'{case.__name__} failed:\n{text}', file=sys.stderr)
            ElementTree.SubElement(element, 'failure').text = text
    ElementTree.ElementTree(suite).write(result_file, encoding='utf-8', xml_declaration=True)
    sys.exit(failed > 0)

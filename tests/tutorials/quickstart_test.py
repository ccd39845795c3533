"""The first lesson's programs run: quickstart_test.py RESULT_FILE, with TARDYGRAD_BUILD_ROOT set"""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile

import junit

HEADER = ('status,engine,rule,codec,model,workers,seed,epochs,learning_rate,momentum,test_error_percent,train_loss,'
          'mean_lag,max_lag,mean_gap,bytes_up,bytes_down,virtual_time,seconds,workers_lost,codec_down')
RUNS = [('mlp', 'multi-asgd', '16'), ('mlp', 'dana-zero', '16'), ('lenet', 'sgd', '1'), ('lenet', 'asgd', '8'),
        ('lenet', 'ssgd', '8'), ('lenet', 'dc-asgd-a', '8')]

lesson = pathlib.Path(os.environ['TARDYGRAD_SOURCE_ROOT'], 'tutorials', '00_quickstart')
build = os.environ['TARDYGRAD_BUILD_ROOT']


def quickstart(folder, *arguments):
    return subprocess.run([lesson / 'run', build, *arguments], cwd=folder, capture_output=True, text=True)


def rows_of(folder):
    with open(folder / 'runs/quickstart/summary.csv', newline='') as file:
        return list(csv.DictReader(file))


def the_whole_lesson_runs_and_keeps_what_was_there():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        results = folder / 'runs/quickstart'
        results.mkdir(parents=True)
        (results / 'summary.csv').write_text('earlier')

        done = quickstart(folder, '--smoke')
        assert done.returncode == 0, done.stdout + done.stderr
        assert (results / 'summary.csv').read_text().splitlines()[0] == HEADER
        rows = rows_of(folder)
        assert [(r['model'], r['rule'], r['workers']) for r in rows] == RUNS, rows
        assert all(r['status'] == 'finished' for r in rows), rows
        gap = {r['rule']: float(r['mean_gap']) for r in rows}
        assert gap['sgd'] == gap['ssgd'] == 0 < gap['asgd'], gap
        assert 0 < gap['dana-zero'] < gap['multi-asgd'], gap
        for model, rule, _ in RUNS:
            group = results / ('momentum' if model == 'mlp' else 'delay')
            for picture in [group / 'error.svg', group / 'gap.svg', group / rule / 'lag.svg', group / rule / 'gap.svg']:
                assert '</svg>' in picture.read_text(), picture
            assert f' {rule} ' in done.stdout, done.stdout
        for place in ['runs/quickstart/summary.csv', 'runs/quickstart/momentum/error.svg',
                      'runs/quickstart/delay/error.svg']:
            assert place in done.stdout, done.stdout

        earlier = list(folder.glob('runs/*-quickstart-before/summary.csv'))
        assert len(earlier) == 1 and earlier[0].read_text() == 'earlier', earlier


def a_mistake_is_named_before_anything_is_moved():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = quickstart(folder, '--smok')
        assert done.returncode != 0 and '--smok' in done.stderr, done
        assert not (folder / 'runs').exists()


def the_run_by_hand_learns():
    done = subprocess.run([f'{build}/tutorials/00_quickstart/by_hand', 'synthetic'], capture_output=True, text=True)
    assert done.returncode == 0, done
    errors = [float(line.split()[-2]) for line in done.stdout.splitlines() if line.startswith('epoch')]
    assert len(errors) == 2 and errors[-1] < errors[0], done.stdout


junit.run([
    the_whole_lesson_runs_and_keeps_what_was_there, a_mistake_is_named_before_anything_is_moved, the_run_by_hand_learns
], sys.argv[1])

"""The page of `tardygrad trace` in headless Chromium: trace_page_test.py RESULT_FILE, with TARDYGRAD_BUILD_ROOT set

Each page is shown in frames of two widths, used as a reader would, and asked what it shows.
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import junit

BUILD = os.environ['TARDYGRAD_BUILD_ROOT']
BROWSER = next(filter(None, map(shutil.which, ['chromium', 'chromium-browser', 'google-chrome'])), None)
WIDTHS = [400, 1100]

# Before the page's own script.
ERRORS = "<script>window.errors = []; addEventListener('error', e => errors.push(e.message));</script>"

# In the page around the frames. What it finds stands in its title.
USE = """
const wait = ms => new Promise(done => setTimeout(done, ms));
// What sticks out of its picture, and labels that bars cover.
function cutOff(page) {
  const found = [];
  for (const svg of page.document.querySelectorAll('svg')) {
    const around = svg.getBoundingClientRect();
    const bars = [...svg.querySelectorAll('rect, polyline')].map(bar => bar.getBoundingClientRect());
    for (const part of svg.querySelectorAll('text, rect, line, polyline')) {
      const r = part.getBoundingClientRect();
      const inside = r.left > around.left - 1 && r.right < around.right + 1 && r.top > around.top - 1 && r.bottom < around.bottom + 1;
      if (!inside) found.push(`${svg.id}: ${part.outerHTML} sticks out`);
      if (part.tagName !== 'text' || !part.textContent.startsWith('worker')) continue;
      const covered = bars.some(bar => bar.left < r.right - 1 && bar.top < r.bottom && bar.bottom > r.top);
      if (covered) found.push(`${svg.id}: a bar covers ${part.textContent}`);
    }
  }
  return found;
}
async function use(page) {
  const byId = id => page.document.getElementById(id), story = () => byId('story').textContent;
  const root = page.document.documentElement, told = [story()];
  const all = (names, where = byId('timeline')) => [...where.querySelectorAll(names)];
  const result = {scroll: root.scrollWidth, client: root.clientWidth, told, cut: cutOff(page)};
  result.drawn = all('svg', page.document).map(svg => all('rect, polyline', svg).length);
  result.labels = all('text').filter(text => text.textContent.startsWith('worker')).length;
  result.hollow = all('rect').filter(bar => bar.getAttribute('fill') === 'none').length;
  const step = action => { action(); told.push(story()); };
  step(() => byId('forward').click());
  step(() => byId('last').click());
  result.cut.push(...cutOff(page));
  step(() => byId('back').click());
  step(() => page.document.dispatchEvent(new page.KeyboardEvent('keydown', {key: 'ArrowLeft'})));
  step(() => { byId('slider').value = 7; byId('slider').dispatchEvent(new page.Event('input')); });
  step(() => byId('first').click());
  step(() => byId('back').click());
  byId('play').click();
  await wait(1000);
  byId('play').click();
  told.push(story());
  await wait(1000);
  told.push(story());
  const bar = all('rect').find(b => b.querySelector('title').textContent.startsWith('update 9,'));
  step(() => bar.dispatchEvent(new page.MouseEvent('click')));
  result.errors = page.errors;
  return result;
}
addEventListener('load', async () => {
  const results = [];
  for (const frame of document.querySelectorAll('iframe')) {
    try { results.push(await use(frame.contentWindow)); } catch (error) { results.push({failure: String(error.stack)}); }
  }
  document.title = JSON.stringify(results);
});
"""


def tardygrad(*arguments, folder):
    done = subprocess.run([f'{BUILD}/tardygrad', *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def traced(folder, *arguments, updates):
    """The page of a run of so many updates on made data."""
    tardygrad('train', '--data', 'synthetic', '--model', 'mlp:hidden=16', '--batch', '32', '--epochs', str(updates / 128),
              '--out', 'run', *arguments, folder=folder)
    said = tardygrad('trace', 'run', '--updates', f'0..{updates - 1}', folder=folder)
    assert 'run/trace.html' in said and 'run/trace.svg' in said, said
    return (folder / 'run/trace.html').read_text()


def used(page, folder):
    """What USE found, by width."""
    page = page.replace('<head>', '<head>' + ERRORS, 1)
    frames = ''.join(f'<iframe style="width:{w}px;height:900px;border:0" srcdoc="{html.escape(page)}"></iframe>'
                     for w in WIDTHS)
    (folder / 'around.html').write_text(f'<!doctype html><title>not used</title><script>{USE}</script>{frames}')
    done = subprocess.run([BROWSER, '--headless', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=60000',
                           f'--user-data-dir={folder}/profile', '--dump-dom', (folder / 'around.html').as_uri()],
                          capture_output=True, text=True, timeout=120, env={**os.environ, 'HOME': str(folder)})
    title = re.search(r'<title>(.*?)</title>', done.stdout, re.DOTALL)
    assert title, done.stdout + done.stderr
    results = json.loads(html.unescape(title.group(1)))
    assert len(results) == len(WIDTHS), results
    return dict(zip(WIDTHS, results))


def check(result, width, workers, updates):
    assert 'failure' not in result, result['failure']
    assert result['errors'] == [], result['errors']
    assert width - 40 < result['client'] <= width and result['scroll'] <= result['client'], result
    assert result['cut'] == [], result['cut'][:5]
    assert result['labels'] == workers and min(result['drawn']) >= 1 and result['drawn'][0] >= 40, result
    at = [int(re.match(r'Update (\d+): worker \d+ hands in batch \d+\.', story).group(1)) for story in result['told']]
    assert at[:8] == [0, 1, updates - 1, updates - 2, updates - 3, 7, 0, 0], at
    assert 1 <= at[8] <= 3 and at[9] == at[8], f'played to {at[8]}, and paused there until {at[9]}'
    assert at[10] == 9, at
    for story in result['told']:
        lag = re.search(r'of version (\d+); the server is at version (\d+) now.*(?:lag (\d+)|not late)', story)
        assert int(lag[2]) - int(lag[1]) == int(lag[3] or 0), story


def case(name, workers, updates, *arguments, refused=False):

    def run():
        if BROWSER is None:
            raise junit.Skipped('no chromium here: apt-get install chromium')
        with tempfile.TemporaryDirectory() as name_of_folder:
            folder = pathlib.Path(name_of_folder)
            page = traced(folder, *arguments, '--workers', str(workers), updates=updates)
            for width, result in used(page, folder).items():
                check(result, width, workers, updates)
                assert (result['hollow'] > 0) == refused, result

    run.__name__ = name
    return run


junit.run([
    case('a_run_of_one_worker', 1, 100, '--rule', 'sgd'),
    case('a_run_of_eight', 8, 200, '--rule', 'dana-zero', '--clock', 'heterogeneous'),
    case('a_run_of_sixty_four', 64, 300, '--rule', 'asgd'),
    case('rounds_that_refuse_who_is_late', 8, 120, '--rule', 'ssgd:backup=2', refused=True),
], sys.argv[1])

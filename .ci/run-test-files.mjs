// Runs test files in this process: those of TEST_FILES. Of several lines, it runs one after another, each unless another
// process has claimed it, by a folder in CLAIMS. A line has one file, or several that must share a process.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';

const { CLAIMS, PROPERTY_SEED, TEST_FILES } = process.env;
// Without the second setting, a property that says `maxLength: 200` is tried with lists of at most 10.
fc.configureGlobal({ seed: Number(PROPERTY_SEED), defaultSizeToMaxWhenMaxSpecified: true });
const runs = TEST_FILES.split('\n').map((line) => line.split(' '));
// tap names the folders of fixtures after the program, and several programs run side by side.
process.argv[1] = runs.length === 1 ? resolve(runs[0][0]) : resolve(`dist/test/${process.pid}`);
const { default: t } = await import('tap');

const load = async (files) => {
  for (const file of files) await import(pathToFileURL(resolve(file)).href);
};

const claim = (index) => {
  try {
    mkdirSync(join(CLAIMS, String(index)));
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
};

// Within a test, since tap ends when no test is left. It comes after all sections of the file before.
const loadNext = (first) =>
  t.test('the next file', async (t) => {
    const index = runs.findIndex((_, i) => i >= first && claim(i));
    if (index < 0) return;
    t.comment(`file ${runs[index].join(' ')}`);
    await load(runs[index]);
    loadNext(index + 1);
  });

if (runs.length === 1) await load(runs[0]);
else loadNext(0);

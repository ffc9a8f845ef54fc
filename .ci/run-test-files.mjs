// Runs test files in this process: those of TEST_FILES, one on each line. Of several, it runs one after another, each unless
// another process has claimed it, by a folder in CLAIMS.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const { CLAIMS, TEST_FILES } = process.env;
const files = TEST_FILES.split('\n');
// tap names the folders of fixtures after the program, and several programs run side by side.
process.argv[1] = files.length === 1 ? resolve(files[0]) : resolve(`dist/test/${process.pid}`);
const { default: t } = await import('tap');

const load = (file) => import(pathToFileURL(resolve(file)).href);

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
    const index = files.findIndex((_, i) => i >= first && claim(i));
    if (index < 0) return;
    t.comment(`file ${files[index]}`);
    await load(files[index]);
    loadNext(index + 1);
  });

if (files.length === 1) await load(files[0]);
else loadNext(0);

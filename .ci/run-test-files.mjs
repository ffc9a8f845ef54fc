// Runs the test files that TEST_FILES names, with spaces between them, one after another in this process.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const files = process.env.TEST_FILES.split(' ').map((file) => resolve(file));
// tap names the folders of fixtures after the program, and several programs run side by side.
process.argv[1] = files[0];
const { default: t } = await import('tap');

const load = async () => {
  for (const file of files) await import(pathToFileURL(file).href);
};
// Within a test, since tap ends when no test is left, which those of one file may be before the next is loaded. That test
// would be among those that a pattern leaves out.
if (files.length === 1 || process.env.TAP_GREP !== undefined) await load();
else t.test('all files load', load);

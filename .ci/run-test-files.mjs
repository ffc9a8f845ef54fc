// Runs the test files that TEST_FILES names, with spaces between them, one after another in this process.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const files = process.env.TEST_FILES.split(' ').map((file) => resolve(file));
// tap names the folders of fixtures after the program, and several programs run side by side.
process.argv[1] = files[0];
for (const file of files) await import(pathToFileURL(file).href);

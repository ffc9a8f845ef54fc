import { readFileSync } from 'node:fs';

/** Where a file of this package lies, wherever the package is installed. */
export const packageFile = (path: string): URL => new URL(`../../../${path}`, import.meta.url); // from dist/src/runtime

const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }; // npm sees to it

/** The version of this package, as `--version` and `/health` name it. */
export const { version } = manifest;

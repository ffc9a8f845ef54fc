import { readFileSync } from 'node:fs';

export const packageFile = (path: string): URL => new URL(`../../../../${path}`, import.meta.url); // from dist/src/shared/runtime

const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }; // npm requires it

/** The version of this package, shown by `--version` and `/health`. */
export const { version } = manifest;

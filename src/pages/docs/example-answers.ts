import { readFileSync } from 'node:fs';

interface ExampleAnswer {
  readonly path: string;
  readonly answer: unknown;
}

const FILE = new URL('data/example-answers.json', import.meta.url);

/** An answer of the embedded cluster for each route that is read, by its operation. */
export const EXAMPLE_ANSWERS: Readonly<Record<string, ExampleAnswer>> = JSON.parse(readFileSync(FILE, 'utf8'));

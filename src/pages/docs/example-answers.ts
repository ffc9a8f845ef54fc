import { readFileSync } from 'node:fs';
import { parseExactJson } from '../../shared/domain/parse-exact-json.ts';

interface ExampleAnswer {
  readonly path: string;
  readonly answer: unknown;
}

const FILE = new URL('data/example-answers.json', import.meta.url);

/** An answer of the embedded cluster for each route that is read, by its operation. */
export const EXAMPLE_ANSWERS = parseExactJson(readFileSync(FILE, 'utf8')) as Readonly<Record<string, ExampleAnswer>>;

import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';

const ROUTES = new URL('../../../src/routes/', import.meta.url); // from dist/test/architecture

/** Matches a route's function with a context that it does not declare in the form of `Uses<…>`. */
const UNDECLARED = /\b(?:resolve|answer|valueOf)\((?:\{[^}]*\}|\w+), (?:\{[^}]*\}|context)[,)]/;

const files = readdirSync(ROUTES, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

t.test('each route declares which parts of the context it uses', async (t) => {
  t.match('  answer({ kid }, { keys }) {', UNDECLARED);
  t.match('  async resolve({ a, b }, context, { minSlot }) {', UNDECLARED);
  t.notMatch("  resolve({ a }, { mesh }: Uses<'mesh'>, { minSlot }) {", UNDECLARED);
  for (const file of files) {
    const code = readFileSync(new URL(file, ROUTES), 'utf8').replace(/\s+/g, ' ');
    t.notMatch(code, UNDECLARED, file);
    t.notMatch(code, /\bRouteContext\b/, `${file} does not take all of it`);
  }
});

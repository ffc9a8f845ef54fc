import process from 'node:process';
import t from 'tap';
import { matchRoute, routes } from '../../src/gateway/routes/index.ts';
import { API_PREFIX } from '../../src/shared/domain/canonical-request.ts';
import {
  findUnnumberedChanges,
  makeResults,
  readRecordedResults,
  UNREPEATABLE,
  writeRecordedResults,
} from '../support/recorded-results.ts';

// `npm run record:results` runs this file with `record`, which writes what it would otherwise compare
const args = process.argv.slice(2);
const ADVICE = `
The bytes of these results have changed, and the number of their claims hasn't. If the same data give other bytes now, let
claimNumberOf of the route return the next number, unless no release has signed with this one yet. Then, or if only the
data of the embedded cluster have changed: npm run record:results (with -- --same-number in the last two cases).`;

t.test('recorded-results', async (t) => {
  const made = await makeResults(t);
  const recorded = readRecordedResults();

  t.test('a result whose bytes change is signed with the next claim number', async (t) => {
    const changed = findUnnumberedChanges(recorded, made);
    if (args.includes('record') && (changed.length === 0 || args.includes('--same-number'))) {
      writeRecordedResults(made);
      t.pass(`${made.length} results were recorded`);
    } else {
      t.same(changed, [], ADVICE);
      t.same(made, recorded, 'what is recorded is what is signed: npm run record:results');
    }
  });

  t.test('each route that signs what it reads has a recorded result', async (t) => {
    const covered = new Set(
      made.map(({ request }) => matchRoute(API_PREFIX + (request.split('?')[0] ?? ''))?.route.path),
    );
    const signed = routes.filter(({ kind, envelope }) => kind === 'read' && envelope === 'signed');
    const uncovered = signed
      .map(({ path }) => path)
      .filter((path) => !covered.has(path) && !UNREPEATABLE.includes(path));
    t.same(uncovered, []);
  });

  t.test('a change of bytes is found unless the number rises with it', async (t) => {
    const [first] = made;
    if (first === undefined) throw new Error('nothing was made');
    const other = { ...first, digest: '0'.repeat(64) };
    t.same(findUnnumberedChanges([first], [other]), [`GET ${first.request} (claim number ${first.claimNumber})`]);
    t.same(findUnnumberedChanges([first], [{ ...other, claimNumber: first.claimNumber + 1 }]), []);
    t.same(findUnnumberedChanges([first], [first]), []);
  });
});

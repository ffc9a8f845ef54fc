import { runSuite } from '../support/run-suite.ts';

await runSuite(
  'e2e/block',
  'e2e/explain',
  'e2e/history',
  'e2e/large-integers',
  'e2e/recorded-results',
  'e2e/rest-routes',
  'e2e/tx',
);

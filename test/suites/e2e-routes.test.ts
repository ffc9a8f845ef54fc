import { runSuite } from '../support/run-suite.ts';

await runSuite(
  'e2e/balances',
  'e2e/block',
  'e2e/explain',
  'e2e/history',
  'e2e/holders',
  'e2e/large-integers',
  'e2e/large-lists',
  'e2e/nft',
  'e2e/portfolio',
  'e2e/rest-routes',
  'e2e/search',
  'e2e/token-accounts',
  'e2e/tx',
);

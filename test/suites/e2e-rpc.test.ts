import { runSuite } from '../support/run-suite.ts';

await runSuite(
  'e2e/json-rpc',
  'e2e/rpc-allow-list',
  'e2e/rpc-from-cache',
  'e2e/rpc-min-slot',
  'e2e/rpc-monotonic-slots',
  'e2e/balances',
  'e2e/holders',
  'e2e/large-lists',
  'e2e/nft',
  'e2e/portfolio',
  'e2e/search',
  'e2e/token-accounts',
);

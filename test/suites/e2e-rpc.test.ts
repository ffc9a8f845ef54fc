import { runSuite } from '../support/run-suite.ts';

await runSuite(
  'e2e/json-rpc',
  'e2e/rpc-allow-list',
  'e2e/rpc-from-cache',
  'e2e/rpc-min-slot',
  'e2e/rpc-monotonic-slots',
);

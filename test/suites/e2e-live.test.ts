import { runSuite } from '../support/run-suite.ts';

await runSuite(
  'e2e/freshness',
  'e2e/inconsistent-reads',
  'e2e/live-accounts',
  'e2e/live-places',
  'e2e/live-subscriptions',
  'e2e/live-token-lists',
  'e2e/shared-watch',
  'e2e/workers',
);

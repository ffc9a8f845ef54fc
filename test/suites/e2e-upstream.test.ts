import { runSuite } from '../support/run-suite.ts';

await runSuite(
  'e2e/upstream-faults',
  'e2e/demo-portfolio',
  'e2e/embedded-cluster',
  'e2e/health',
  'e2e/start-without-nodes',
  'catalogue/faults',
);

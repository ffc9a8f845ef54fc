import { runSuite } from '../support/run-suite.ts';

await runSuite(
  'e2e/client-read',
  'e2e/client-readme',
  'e2e/client-stream',
  'e2e/slow-consumers',
  'e2e/stream-protocol',
  'e2e/stream-topics',
);

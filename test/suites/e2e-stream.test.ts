import { runSuite } from '../support/run-suite.ts';

await runSuite(
  'e2e/client-read',
  'e2e/client-readme',
  'e2e/client-stream',
  'e2e/slow-consumers',
  'e2e/stream-protocol',
  'e2e/stream-topics',
  'e2e/lying-node',
  'e2e/receipt-key-lifecycle',
  'e2e/receipt-nonces',
  'e2e/receipts',
  'e2e/shared-signing-key',
);

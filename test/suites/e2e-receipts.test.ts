import { runSuite } from '../support/run-suite.ts';

await runSuite(
  'e2e/lying-node',
  'e2e/receipt-key-lifecycle',
  'e2e/receipt-nonces',
  'e2e/receipts',
  'e2e/shared-signing-key',
);

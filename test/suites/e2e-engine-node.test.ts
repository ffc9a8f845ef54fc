import { runSuite } from '../support/run-suite.ts';

// What depends on the HTTP engine, over the one on node:http, which other suites use only where no binary loads.
process.env['SLOTGATE_HTTP_ENGINE'] = 'node';

await runSuite(
  'e2e/engines',
  'e2e/conditional-requests',
  'e2e/error-responses',
  'e2e/http-framing',
  'e2e/internal-errors',
  'e2e/overload',
  'e2e/trusted-proxies',
  'e2e/slow-consumers',
  'e2e/stream-protocol',
  'e2e/receipt-nonces',
);

import { runSuite } from '../support/run-suite.ts';

await runSuite(
  'e2e/conditional-requests',
  'e2e/error-responses',
  'e2e/http-framing',
  'e2e/internal-errors',
  'e2e/undecodable',
  'e2e/pages',
  'e2e/api-key-tiers',
  'e2e/overload',
  'e2e/rate-limits',
  'e2e/stake-tiers',
  'e2e/trusted-proxies',
  'e2e/admin',
);

import { runSuite } from '../support/run-suite.ts';

await runSuite('e2e/api-key-tiers', 'e2e/overload', 'e2e/rate-limits', 'e2e/stake-tiers', 'e2e/trusted-proxies');

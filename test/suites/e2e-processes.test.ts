import { runSuite } from '../support/run-suite.ts';

await runSuite('e2e/gateway-process', 'e2e/command-line', 'e2e/build', 'e2e/client-package', 'e2e/secret-leaks');

import { runSuite } from '../support/run-suite.ts';

await runSuite('unit/access', 'unit/cli', 'unit/config', 'unit/localnet');

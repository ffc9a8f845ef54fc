import { runSuite } from '../support/run-suite.ts';

await runSuite('unit/localnet');

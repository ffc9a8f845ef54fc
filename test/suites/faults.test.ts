import { runSuite } from '../support/run-suite.ts';

await runSuite('catalogue/faults');

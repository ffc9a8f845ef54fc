import { runSuite } from '../support/run-suite.ts';

await runSuite('unit/receipts', 'catalogue/receipts', 'unit/upstream');

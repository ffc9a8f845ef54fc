import { runSuite } from '../support/run-suite.ts';

await runSuite(
  'architecture',
  'unit/admin',
  'unit/cache',
  'unit/client',
  'unit/domain',
  'unit/fleet',
  'unit/gateway',
  'unit/http',
  'unit/live',
  'unit/page',
  'unit/pipeline',
  'unit/prices',
  'unit/routes',
  'unit/routing',
  'unit/runtime',
  'unit/serving',
  'unit/tokens',
  'unit/solana',
);

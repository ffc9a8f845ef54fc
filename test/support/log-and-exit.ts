import { createLog } from '../../src/runtime/log.ts';

// A process that logs two lines when its standard input ends, and ends in the same turn.

const log = createLog('info');
process.stdin.resume().on('end', () => {
  log.info({}, 'a line');
  log.info({}, 'the last line');
  process.exit(0);
});

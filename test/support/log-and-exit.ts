import { GatewayError } from '../../src/shared/domain/gateway-error.ts';
import { createLog } from '../../src/shared/runtime/log.ts';

// A process that logs errors and a last line when its standard input ends, and ends in the same turn.

const log = createLog('info');
process.stdin.resume().on('end', () => {
  log.warn({ err: new GatewayError('upstream_timeout', 'node-1: timeout', { cause: new Error('socket') }) }, 'a node');
  log.warn({ err: Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' }) }, 'a disk');
  log.warn({ err: GatewayError.from(new TypeError('x is undefined')) }, 'a defect');
  log.info({}, 'the last line');
  process.exit(0);
});

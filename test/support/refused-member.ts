import type { FromMember } from '../../src/gateway/fleet/supervisor/member-messages.ts';
import { facts } from './member-facts.ts';

/** A process that is up, and then refused, as one whose start goes on behind the open port; or that stands still. */
const send = (message: FromMember): void => {
  process.send?.(message);
};
process.on('message', (message: { readonly kind: string }) => {
  if (message.kind === 'start') send({ kind: 'up', url: 'http://localhost', facts });
  else if (message.kind === 'reload')
    send({ kind: 'failed', exitCode: 78, message: 'the nodes are of another cluster' });
  else if (message.kind === 'reloadFailed') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (message.kind !== 'start') process.disconnect();
});

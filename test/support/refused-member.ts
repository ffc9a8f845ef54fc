import type { FromMember } from '../../src/gateway/fleet/supervisor/member-messages.ts';

/** A process that is up, and then refused: as one whose start goes on behind the open port. */
const send = (message: FromMember): void => {
  process.send?.(message);
};
const facts = {
  cluster: null,
  admin: null,
  publicKey: '',
  receiptMode: 'observed' as const,
  receiptKeyPath: null,
  nodes: [],
};
process.on('message', (message: { readonly kind: string }) => {
  if (message.kind === 'start') send({ kind: 'up', url: 'http://localhost', facts });
  else if (message.kind === 'reload')
    send({ kind: 'failed', exitCode: 78, message: 'the nodes are of another cluster' });
  if (message.kind !== 'start') process.disconnect();
});

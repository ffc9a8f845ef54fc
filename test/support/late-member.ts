import type { FromMember, ToMember } from '../../src/gateway/fleet/supervisor/member-messages.ts';
import { facts } from './member-facts.ts';

/** A process that is up, as a pipeline process only once the workers that were there before it have ended. */
const send = (message: FromMember): void => {
  process.send?.(message);
};
process.on('message', (message: ToMember) => {
  if (message.kind === 'start' && message.role === 'pipeline' && message.workers.length > 0)
    send({ kind: 'late', workers: message.workers });
  else if (message.kind === 'start' || message.kind === 'lateEnded')
    send({ kind: 'up', url: 'http://localhost', facts });
  else process.disconnect();
});

import { GatewayError } from '../../domain/gateway-error.ts';
import { OrderedSession, type SessionOptions } from './ordered-session.ts';
import type { PubsubSession } from './pubsub-session.ts';

/** Opens a session with a node; resolves when it sends Clock updates. Throws `upstream_unavailable`. */
export const openSession = (options: SessionOptions): Promise<PubsubSession> =>
  new Promise((resolve, reject) => {
    const session = new OrderedSession(options, () => resolve(session));
    session.onLost((reason) => {
      const cause = `${options.node.id}: ${reason}`;
      reject(new GatewayError('upstream_unavailable', 'no node can be reached', { cause }));
    });
  });

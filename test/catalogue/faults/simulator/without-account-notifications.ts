import type { PubsubSession } from '../../../../src/upstream/pubsub/pubsub-session.ts';

/** A line that tells of programs only, as if that were all that a token list needs. It shows that the checks can fail. */
export function withoutAccountNotifications(session: PubsubSession): PubsubSession {
  const subscribe = session.subscribe.bind(session);
  return Object.assign(session, {
    subscribe(...[method, params, handler]: Parameters<PubsubSession['subscribe']>) {
      return subscribe(
        method,
        params,
        method === 'accountSubscribe' ? { ...handler, onNotification: () => {} } : handler,
      );
    },
  });
}

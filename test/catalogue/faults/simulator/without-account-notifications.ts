import type { PubsubSession } from '../../../../src/upstream/pubsub/pubsub-session.ts';

/**
 * Drops account notifications of a session, as if program notifications sufficed for a token list: a control that the
 * simulator must catch.
 */
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

import type { PubsubSession } from '../../../../src/upstream/pubsub/pubsub-session.ts';

/** A line that tells of programs only, as if that were all that a token list needs. It shows that the checks can fail. */
export function deafToAccounts(line: PubsubSession): PubsubSession {
  const subscribe = line.subscribe.bind(line);
  return Object.assign(line, {
    subscribe(...[method, params, watcher]: Parameters<PubsubSession['subscribe']>) {
      return subscribe(
        method,
        params,
        method === 'accountSubscribe' ? { ...watcher, onNotification: () => {} } : watcher,
      );
    },
  });
}

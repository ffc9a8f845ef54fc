import type { Line } from '../../../../src/upstream/pubsub/ordered-line.ts';

/** A line that tells of programs only, as if that were all that a token list needs. It shows that the checks can fail. */
export function deafToAccounts(line: Line): Line {
  const subscribe = line.subscribe.bind(line);
  return Object.assign(line, {
    subscribe(...[method, params, watcher]: Parameters<Line['subscribe']>) {
      return subscribe(method, params, method === 'accountSubscribe' ? { ...watcher, notify: () => {} } : watcher);
    },
  });
}

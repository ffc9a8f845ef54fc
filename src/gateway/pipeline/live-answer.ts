import type { Answer } from '../../shared/domain/answer.ts';
import { API_PREFIX } from '../../shared/domain/canonical-request.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import { toJson } from '../../shared/domain/to-json.ts';
import type { Cache } from '../cache/cache.ts';
import type { AnswerMeta, Entry, Refresher } from '../cache/entry.ts';

/** The paths that the pipeline keeps current, without the prefix of the API. */
export type LivePath = '/slot' | '/epoch' | '/performance' | '/priority-fee' | '/network';

export function putLiveAnswer(
  cache: Cache,
  path: LivePath,
  { slot, result }: Answer<unknown>,
  commitment: Commitment,
  refresher?: Refresher,
): Entry {
  const meta: AnswerMeta = {
    envelope: path === '/network' ? 'anchored' : 'signed',
    commitment,
    exact: false,
    claimNumber: path === '/network' ? 2 : undefined, // as claimNumberOf of a route that is read
    route: path,
  };
  return cache.put(API_PREFIX + path, { slot, result: toJson(result) }, 'live', meta, { refresher });
}

import { API_PREFIX } from '../../shared/domain/canonical-request.ts';
import type { Commitment } from '../../shared/domain/commitment.ts';
import { account } from './account.ts';
import { balance } from './balance.ts';
import type { ReadRoute } from './routing/route.ts';
import type { ReadRequest } from './routing/route-read-through.ts';

/** The topics of the stream, each with the route that gives the same answers. */
const TOPICS = { balance, account } as const;

export type TopicName = keyof typeof TOPICS;

export const TOPIC_NAMES = Object.keys(TOPICS) as readonly TopicName[];

export const isTopicName = (name: unknown): name is TopicName =>
  typeof name === 'string' && Object.hasOwn(TOPICS, name);

export interface AccountTopic {
  readonly name: TopicName;
  readonly address: string;
  readonly commitment: Commitment;
  readonly request: ReadRequest & { readonly route: ReadRoute };
}

/** Returns the topic of a valid address. The request leaves out a commitment that the caller left out, as over REST. */
export function accountTopicOf(
  name: TopicName,
  address: string,
  requestedCommitment: Commitment | undefined,
): AccountTopic {
  const route = TOPICS[name];
  const commitment = requestedCommitment ?? 'confirmed';
  const query = requestedCommitment === undefined ? '' : `?commitment=${requestedCommitment}`;
  const key = `${API_PREFIX}/${name}/${address}${query}`;
  return { name, address, commitment, request: { route, params: { addr: address, commitment }, key } };
}

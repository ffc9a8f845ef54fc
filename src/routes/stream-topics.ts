import { API_PREFIX } from '../domain/canonical-request.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { ReadRequest } from '../serving/read-through.ts';
import { account } from './account.ts';
import { balance } from './balance.ts';

/** What the stream tells the changes of, each by the route that answers the same. */
const TOPICS = { balance, account } as const;

export type TopicName = keyof typeof TOPICS;

export const isTopicName = (name: unknown): name is TopicName =>
  typeof name === 'string' && Object.hasOwn(TOPICS, name);

/** A topic of one account: what is followed, and the question whose answers are pushed. */
export interface AccountTopic {
  readonly name: TopicName;
  readonly address: string;
  readonly commitment: Commitment;
  readonly request: ReadRequest;
}

/** `address` is valid. A commitment that was not named is left out of the request, as REST has it. */
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

import { API_PREFIX } from '../domain/canonical-request.ts';
import type { Commitment } from '../domain/commitment.ts';
import type { Question } from '../serving/answers.ts';
import { account } from './account.ts';
import { balance } from './balance.ts';

/** What the stream tells the changes of, each by the route that answers the same. */
const TOPICS = { balance, account } as const;

export type TopicName = keyof typeof TOPICS;

export const isTopicName = (name: unknown): name is TopicName =>
  typeof name === 'string' && Object.hasOwn(TOPICS, name);

/** A topic of one account: what is followed, and the question whose answers are pushed. */
export interface Topic {
  readonly name: TopicName;
  readonly address: string;
  readonly commitment: Commitment;
  readonly question: Question;
}

/** `address` is valid. A commitment that was not named is left out of the request, as REST has it. */
export function topicOf(name: TopicName, address: string, named: Commitment | undefined): Topic {
  const route = TOPICS[name];
  const commitment = named ?? 'confirmed';
  const query = named === undefined ? '' : `?commitment=${named}`;
  const key = `${API_PREFIX}/${name}/${address}${query}`;
  return { name, address, commitment, question: { route, params: { addr: address, commitment }, key } };
}

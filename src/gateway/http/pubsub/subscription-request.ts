import bs58 from 'bs58';
import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { type EventId, parseEventId } from '../../../shared/domain/event-id.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { ACCOUNT_ENCODINGS, type AccountView } from './account-view.ts';

/** What a subscription of an account has that names `slotgate` in its configuration: events, not the newest values only. */
export interface EventOptions {
  /** Behind which event it wants all; null for the present value, and what comes. */
  readonly since: EventId | null;
  readonly hasReceipts: boolean;
}

interface AccountSubscription {
  readonly kind: 'account';
  readonly address: string;
  readonly commitment: Commitment;
  readonly view: AccountView;
  readonly events: EventOptions | undefined;
}

/** What a client subscribes to, by the rules of Solana's pubsub: https://github.com/solana-rpc/specs */
export type SubscriptionRequest =
  | AccountSubscription
  | { readonly kind: 'logs'; readonly address: string; readonly commitment: Commitment }
  | { readonly kind: 'signature'; readonly signature: string; readonly commitment: Commitment }
  | { readonly kind: 'slot' | 'root' };

export type SubscriptionKind = SubscriptionRequest['kind'];

export const SUBSCRIPTION_KINDS = [
  'account',
  'logs',
  'signature',
  'slot',
  'root',
] as const satisfies readonly SubscriptionKind[];

/** The methods of pubsub that slotgate refuses, and what a client can use in their place. */
const REFUSED: Readonly<Record<string, string>> = {
  programSubscribe: 'use accountSubscribe for each account, or a second connection, to a node',
  blockSubscribe: 'use slotSubscribe, and GET /api/v1/block/SLOT',
  voteSubscribe: 'use rootSubscribe, or a second connection, to a node',
  slotsUpdatesSubscribe: 'use slotSubscribe and rootSubscribe',
};

/** Returns what a `…Subscribe` subscribes to. Throws `rpc_method_not_allowed` or `invalid_params`. */
export function parseSubscription(method: string, params: readonly unknown[]): SubscriptionRequest {
  switch (method) {
    case 'accountSubscribe': {
      const config = configOf(params);
      const address = readBase58(params, 32, 'Invalid pubkey provided');
      const commitment = commitmentOf(config);
      return { kind: 'account', address, commitment, view: viewOf(config), events: eventsOf(config, commitment) };
    }
    case 'signatureSubscribe': {
      const commitment = commitmentOf(plainConfigOf(params));
      return { kind: 'signature', signature: readBase58(params, 64, 'Invalid signature provided'), commitment };
    }
    case 'logsSubscribe':
      return { kind: 'logs', address: readMention(params), commitment: commitmentOf(plainConfigOf(params)) };
    case 'slotSubscribe':
    case 'rootSubscribe':
      if (params.length > 0) throw invalid('Invalid parameters: No parameters were expected');
      return { kind: method === 'slotSubscribe' ? 'slot' : 'root' };
    default:
      throw new GatewayError('rpc_method_not_allowed', refusalOf(method));
  }
}

/** Any of them ends a subscription of any kind, as at a node. */
export const isUnsubscribe = (method: string): boolean =>
  SUBSCRIPTION_KINDS.some((kind) => method === `${kind}Unsubscribe`);

function refusalOf(method: string): string {
  const alternative = Object.hasOwn(REFUSED, method) ? REFUSED[method] : undefined;
  if (alternative !== undefined) return `${method} is not offered: ${alternative}`;
  return `a WebSocket has ${SUBSCRIPTION_KINDS.map((kind) => `${kind}Subscribe`).join(', ')} and their Unsubscribe: POST all other methods to /api/v1/rpc`;
}

const invalid = (message: string): GatewayError => new GatewayError('invalid_params', message);

type SubscriptionConfig = Readonly<Record<string, unknown>>;

function configOf([, config = null, ...more]: readonly unknown[]): SubscriptionConfig {
  if (more.length > 0) throw invalid('Invalid parameters: Expected from 1 to 2 parameters.');
  if (config === null) return {};
  if (typeof config !== 'object' || Array.isArray(config)) throw invalid('the second parameter must be an object');
  return { ...config };
}

/** Returns the configuration of a subscription to which slotgate adds nothing. */
function plainConfigOf(params: readonly unknown[]): SubscriptionConfig {
  const config = configOf(params);
  if (isGiven(config['slotgate'])) throw invalid('slotgate is for accountSubscribe');
  return config;
}

const isGiven = (member: unknown): boolean => member !== undefined && member !== null;

function eventsOf({ slotgate }: SubscriptionConfig, commitment: Commitment): EventOptions | undefined {
  if (!isGiven(slotgate)) return undefined;
  if (typeof slotgate !== 'object' || Array.isArray(slotgate)) throw invalid('slotgate must be an object');
  const { since = null, receipts = false, ...others }: SubscriptionConfig = { ...slotgate };
  if (Object.keys(others).length > 0) throw invalid('slotgate has only the members since and receipts');
  const id = since === null ? null : parseEventId(String(since));
  if (id === undefined) throw invalid('slotgate.since must be null or the id of an event, SLOT.INDEX');
  if (typeof receipts !== 'boolean') throw invalid('slotgate.receipts must be true or false');
  if (commitment === 'processed')
    throw invalid('slotgate is for confirmed and finalized: a fork may take back what is processed');
  return { since: id, hasReceipts: receipts };
}

function readBase58([text]: readonly unknown[], bytes: number, fault: string): string {
  if (text === undefined) throw invalid('`params` should have at least 1 argument(s)');
  const isValid = typeof text === 'string' && text.length <= 2 * bytes && bs58.decodeUnsafe(text)?.length === bytes;
  if (!isValid) throw invalid(`Invalid Request: ${fault}`);
  return text;
}

/** Returns the address of `{"mentions":[ADDRESS]}`. All transactions of a cluster are not offered. */
function readMention([filter]: readonly unknown[]): string {
  if (filter === 'all' || filter === 'allWithVotes')
    throw new GatewayError(
      'rpc_method_not_allowed',
      `logsSubscribe is offered for {"mentions":[ADDRESS]}, not "${filter}"`,
    );
  const { mentions } = { mentions: undefined, ...Object(filter) };
  if (!Array.isArray(mentions)) throw invalid('the first parameter must be {"mentions":[ADDRESS]}');
  if (mentions.length !== 1) throw invalid('Invalid Request: Only 1 address supported');
  return readBase58(mentions, 32, 'Invalid mentions provided');
}

/** A node subscribes at its default, too, where it does not know the commitment (agave 4.2.2). */
const commitmentOf = ({ commitment }: SubscriptionConfig): Commitment =>
  COMMITMENTS.find((name) => name === commitment) ?? 'finalized';

function viewOf({ encoding: name, dataSlice }: SubscriptionConfig): AccountView {
  const encoding = ACCOUNT_ENCODINGS.find((known) => known === (name ?? 'binary'));
  if (encoding === undefined) throw invalid(`encoding must be one of ${ACCOUNT_ENCODINGS.join(', ')}`);
  return { encoding, slice: isGiven(dataSlice) ? sliceOf(dataSlice) : undefined };
}

function sliceOf(value: unknown): NonNullable<AccountView['slice']> {
  const { offset, length } = { offset: undefined, length: undefined, ...Object(value) };
  const isCount = (count: unknown): count is number =>
    typeof count === 'number' && Number.isSafeInteger(count) && count >= 0;
  if (!isCount(offset) || !isCount(length)) throw invalid('dataSlice must have an offset and a length');
  return { offset, length };
}

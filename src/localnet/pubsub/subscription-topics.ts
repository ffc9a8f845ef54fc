import { COMMITMENTS, type Commitment } from '../../shared/domain/commitment.ts';
import type { Block } from '../bank/produced-block.ts';
import { systemAccount } from '../bank/svm-account.ts';
import { amountScaleOf } from '../bank/token-state.ts';
import { invalidParams, methodNotFound } from '../encode/json-rpc-error.ts';
import { type AccountView, encodeUiAccount } from '../encode/ui-account.ts';
import { readAccountView } from '../rpc/account-view.ts';
import {
  type RpcConfig,
  readAddress,
  readCommitment,
  readConfig,
  readList,
  readPositional,
  readSignature,
} from '../rpc/json-rpc-params.ts';
import { type MethodHandler, method, type NodeContext } from '../rpc/method-handler.ts';
import { parseAccountFilters } from '../rpc/program-account-filter.ts';
import type { PubsubEvent } from './notification-order.ts';
import { accountTrigger, bankTrigger, programTrigger, type Trigger } from './triggers.ts';

/** Filter and encoder of a subscription. */
export interface SubscriptionTopic {
  /** Events that may have results. */
  readonly triggers: readonly Trigger[];
  /** Returns the results of an event; `addresses` are those of the accounts that triggered it, sorted. */
  readonly resultsOf: (event: PubsubEvent, addresses: readonly string[]) => readonly unknown[];
  /** True when the first result is also the last. */
  readonly endsAfterFirst?: boolean;
}

type BankEvent = Extract<PubsubEvent, { kind: 'bank' }>;

/** `<kind>Subscribe` starts a subscription, `<kind>Notification` is its notification. */
const TOPIC_KINDS_BY_NAME: Readonly<Record<string, MethodHandler<SubscriptionTopic>>> = {
  slot: method(0, 0, ({ faults }) => ({
    triggers: ['created'],
    resultsOf: (event) => {
      if (event.kind !== 'created') return [];
      const { slot, parent, root } = event;
      const skew = faults.slotSkew;
      return [{ slot: slot + skew, parent: parent + skew, root: root + skew }];
    },
  })),

  root: method(0, 0, ({ faults }) => ({
    triggers: [bankTrigger('finalized')],
    resultsOf: (event) => (event.kind === 'bank' ? [event.block.slot + faults.slotSkew] : []),
  })),

  slotsUpdates: method(0, 0, ({ faults, clock }) => ({
    triggers: ['created', ...COMMITMENTS.map(bankTrigger)],
    resultsOf: (event) => slotUpdatesOf(event, faults.slotSkew, clock.now()),
  })),

  account: method(1, 1, (node, [key, options]) => {
    const wanted = readPubkey(key);
    const config = readConfig(options);
    const viewAt = readViewAt(node, config);
    const trigger = (level: Commitment): Trigger => accountTrigger(level, wanted);
    return bankTopic(node, config, trigger, ({ block }) => {
      const account = node.chain.accountAt(wanted, block.slot) ?? systemAccount(0n);
      return [encodeUiAccount(wanted, account, viewAt(block))];
    });
  }),

  program: method(1, 1, (node, [key, options]) => {
    const program = readPubkey(key);
    const config = readConfig(options);
    const { memcmps, matches } = parseAccountFilters(config['filters']);
    const viewAt = readViewAt(node, config);
    const trigger = (level: Commitment): Trigger => programTrigger(level, program, memcmps);
    return bankTopic(node, config, trigger, ({ block }, addresses) => {
      const view = viewAt(block);
      return addresses.flatMap((pubkey) => {
        const account = node.chain.accountAt(pubkey, block.slot);
        if (account === undefined || !matches(account)) return [];
        return [{ pubkey, account: encodeUiAccount(pubkey, account, view) }];
      });
    });
  }),

  logs: method(1, 1, (node, [filter, options]) => {
    const mentioned = readMention(filter);
    return bankTopic(node, readConfig(options), bankTrigger, ({ block }) =>
      block.transactions
        .filter(({ accountKeys }) => mentioned === undefined || accountKeys.includes(mentioned))
        .map(({ signature, error, logs }) => ({ signature, err: error, logs })),
    );
  }),

  signature: method(1, 1, (node, [id, options]) => {
    const wanted = readOrRefuse(id, readSignature, 'Invalid signature provided');
    const topic = bankTopic(node, readConfig(options), bankTrigger, ({ block }) => {
      const landed = node.chain.transaction(wanted);
      return landed !== undefined && landed.slot <= block.slot ? [{ err: landed.error }] : [];
    });
    return { ...topic, endsAfterFirst: true };
  }),
};

export const TOPIC_KINDS: readonly string[] = Object.keys(TOPIC_KINDS_BY_NAME);

/** Parses the parameters of a subscription. Throws JsonRpcError for parameters that a node refuses. */
export function parseTopic(node: NodeContext, kind: string, params: unknown): SubscriptionTopic {
  const known = TOPIC_KINDS_BY_NAME[kind];
  if (known === undefined) throw methodNotFound();
  return known.handle(node, readPositional(params, known.required, known.optional));
}

/** Creates a topic over the banks of one commitment; each value gets the bank's slot as context. */
function bankTopic(
  node: NodeContext,
  options: RpcConfig,
  triggerOf: (commitment: Commitment) => Trigger,
  values: (event: BankEvent, addresses: readonly string[]) => readonly unknown[],
): SubscriptionTopic {
  const wanted = readCommitment(options);
  return {
    triggers: [triggerOf(wanted)],
    resultsOf(event, addresses) {
      if (event.kind !== 'bank' || event.commitment !== wanted) return [];
      const context = { slot: event.block.slot + node.faults.slotSkew };
      return values(event, addresses).map((value) => ({ context, value }));
    },
  };
}

/**
 * Describes what happened to a slot, at a time in Unix milliseconds: it was received whole, then frozen. Each transaction
 * counts as one entry.
 */
function slotUpdatesOf(event: PubsubEvent, skew: number, timestamp: number): readonly object[] {
  if (event.kind === 'created')
    return [{ type: 'createdBank', slot: event.slot + skew, parent: event.parent + skew, timestamp }];
  const slot = event.block.slot + skew;
  if (event.commitment !== 'processed')
    return [{ type: event.commitment === 'finalized' ? 'root' : 'optimisticConfirmation', slot, timestamp }];
  const { transactions } = event.block;
  const failed = transactions.filter(({ error }) => error !== null).length;
  const stats = {
    numTransactionEntries: transactions.length,
    numSuccessfulTransactions: transactions.length - failed,
    numFailedTransactions: failed,
    maxTransactionsPerEntry: Math.min(1, transactions.length),
  };
  return [
    { type: 'completed', slot, timestamp },
    { type: 'frozen', slot, timestamp, stats },
  ];
}

/** Reads how accounts are to be encoded, whatever the block. Throws JsonRpcError for what a node refuses. */
function readViewAt({ chain }: NodeContext, config: RpcConfig): (block: Block) => AccountView {
  const view = readAccountView(config, 'binary', { scale: () => undefined });
  return ({ slot, blockTime }) => ({
    ...view,
    scale(mint) {
      const account = chain.accountAt(mint, slot);
      return account && amountScaleOf(account, blockTime);
    },
  });
}

const readPubkey = (value: unknown): string => readOrRefuse(value, readAddress, 'Invalid pubkey provided');

/** Reads a parameter; refuses an invalid one with the message that subscriptions have for it. */
function readOrRefuse(value: unknown, read: (value: unknown) => string, refusal: string): string {
  try {
    return read(value);
  } catch {
    throw invalidParams(`Invalid Request: ${refusal}`);
  }
}

/** Reads the address that transactions must mention; undefined for all transactions. */
function readMention(filter: unknown): string | undefined {
  if (filter === 'all' || filter === 'allWithVotes') return undefined;
  const { mentions } = readConfig(filter);
  const [key, ...more] = readList(mentions, Number.POSITIVE_INFINITY);
  if (key === undefined || more.length > 0) throw invalidParams('Invalid Request: Only 1 address supported');
  return readOrRefuse(key, readAddress, 'Invalid mentions provided');
}

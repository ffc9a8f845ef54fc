import type { Block } from '../bank/block.ts';
import { scaleOf } from '../bank/token-state.ts';
import { invalidParams, methodNotFound } from '../encode/node-error.ts';
import { type AccountView, GONE, uiAccount } from '../encode/ui-account.ts';
import { accountFilters } from '../rpc/account-filter.ts';
import { accountView } from '../rpc/account-view.ts';
import type { Node } from '../rpc/method.ts';
import { address, type Config, commitment, config, list, positional, signature } from '../rpc/params.ts';
import type { Moment } from './moments.ts';
import { slotsUpdate } from './slots-update.ts';

/** What a subscription listens to. */
export interface Topic {
  /** The results that a moment gives to its subscribers, none for most moments. */
  readonly results: (moment: Moment) => readonly unknown[];
  /** True when the first result is also the last one. */
  readonly once?: boolean;
}

/** A kind of subscription: `<kind>Subscribe` begins it, `<kind>Notification` tells its subscribers. */
interface Kind {
  readonly required: number;
  readonly optional: number;
  readonly topic: (node: Node, params: readonly unknown[]) => Topic;
}

type BankMoment = Extract<Moment, { kind: 'bank' }>;

const KINDS: Readonly<Record<string, Kind>> = {
  slot: {
    required: 0,
    optional: 0,
    topic: ({ faults }) => ({
      results: (moment) => {
        if (moment.kind !== 'created') return [];
        const { slot, parent, root } = moment;
        const lie = faults.slotLie;
        return [{ slot: slot + lie, parent: parent + lie, root: root + lie }];
      },
    }),
  },

  root: {
    required: 0,
    optional: 0,
    topic: ({ faults }) => ({ results: (moment) => (moment.kind === 'root' ? [moment.slot + faults.slotLie] : []) }),
  },

  slotsUpdates: {
    required: 0,
    optional: 0,
    topic: (node) => ({ results: (moment) => slotsUpdate(node, moment) }),
  },

  account: {
    required: 1,
    optional: 1,
    topic(node, [key, options]) {
      const wanted = pubkey(key);
      return atBank(node, config(options), ({ block, changed }) => {
        if (!changed.has(wanted)) return [];
        return [uiAccount(wanted, node.chain.accountAt(wanted, block.slot) ?? GONE, viewAt(node, options, block))];
      });
    },
  },

  program: {
    required: 1,
    optional: 1,
    topic(node, [key, options]) {
      const program = pubkey(key);
      const { filters } = config(options);
      const belongs = accountFilters(filters);
      return atBank(node, config(options), ({ block, changed }) => {
        const view = viewAt(node, options, block);
        return [...changed].sort().flatMap((pubkey) => {
          const account = node.chain.accountAt(pubkey, block.slot);
          if (account?.owner !== program || !belongs(account)) return [];
          return [{ pubkey, account: uiAccount(pubkey, account, view) }];
        });
      });
    },
  },

  logs: {
    required: 1,
    optional: 1,
    topic(node, [filter, options]) {
      const mentioned = mention(filter);
      return atBank(node, config(options), ({ block }) =>
        block.transactions
          .filter(({ keys }) => mentioned === undefined || keys.includes(mentioned))
          .map(({ signature, error, logs }) => ({ signature, err: error, logs })),
      );
    },
  },

  signature: {
    required: 1,
    optional: 1,
    topic(node, [id, options]) {
      const wanted = asked(id, signature, 'Invalid signature provided');
      const topic = atBank(node, config(options), ({ block }) => {
        const landed = node.chain.transaction(wanted);
        return landed !== undefined && landed.slot <= block.slot ? [{ err: landed.error }] : [];
      });
      return { ...topic, once: true };
    },
  },
};

/** The kinds of subscription that there are. */
export const TOPIC_KINDS: readonly string[] = Object.keys(KINDS);

/** Reads what a subscription listens to. Throws NodeError for what a node refuses. */
export function topicOf(node: Node, kind: string, params: unknown): Topic {
  const known = KINDS[kind];
  if (known === undefined) throw methodNotFound();
  return known.topic(node, positional(params, known.required, known.optional));
}

/** Listens to the banks of one commitment, and tells each value with the bank's slot. */
function atBank(node: Node, options: Config, values: (moment: BankMoment) => readonly unknown[]): Topic {
  const level = commitment(options);
  return {
    results(moment) {
      if (moment.kind !== 'bank' || moment.commitment !== level) return [];
      const context = { slot: moment.block.slot + node.faults.slotLie };
      return values(moment).map((value) => ({ context, value }));
    },
  };
}

/** How accounts are shown as they stand at the end of a block. */
function viewAt({ chain }: Node, options: unknown, { slot, time }: Block): AccountView {
  return accountView(config(options), 'binary', {
    scale(mint) {
      const account = chain.accountAt(mint, slot);
      return account && scaleOf(account, time);
    },
  });
}

const pubkey = (value: unknown): string => asked(value, address, 'Invalid pubkey provided');

/** Subscriptions refuse a bad address or signature in other words than reads do. */
function asked(value: unknown, read: (value: unknown) => string, otherwise: string): string {
  try {
    return read(value);
  } catch {
    throw invalidParams(`Invalid Request: ${otherwise}`);
  }
}

/** The address that transactions must name; undefined for all of them. */
function mention(filter: unknown): string | undefined {
  if (filter === 'all' || filter === 'allWithVotes') return undefined;
  const { mentions } = config(filter);
  const [key, ...more] = list(mentions, Number.POSITIVE_INFINITY);
  if (key === undefined || more.length > 0) throw invalidParams('Invalid Request: Only 1 address supported');
  return pubkey(key);
}

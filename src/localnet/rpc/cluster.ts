import { invalidParams, nodeUnhealthy } from '../encode/node-error.ts';
import { type Methods, VERSION } from './method.ts';
import { address, list, optional, u64 } from './params.ts';

/** So far behind a node may be and still call itself healthy. */
const MAX_SLOTS_BEHIND = 128;
const MAX_SAMPLES = 720;
const MAX_FEE_ACCOUNTS = 128;

/** Reads of the node itself, and of how busy the cluster is. */
export const CLUSTER_METHODS: Methods = {
  getHealth: {
    required: 0,
    optional: 0,
    answer({ chain }) {
      const behind = chain.time.now() - chain.making;
      if (behind > MAX_SLOTS_BEHIND) throw nodeUnhealthy(behind);
      return 'ok';
    },
  },

  getVersion: { required: 0, optional: 0, answer: () => ({ 'feature-set': 0, 'solana-core': VERSION }) },
  getGenesisHash: { required: 0, optional: 0, answer: ({ chain }) => chain.genesisHash },
  getIdentity: { required: 0, optional: 0, answer: ({ chain }) => ({ identity: chain.identity }) },

  getClusterNodes: {
    required: 0,
    optional: 0,
    answer: ({ chain, address }) => [
      {
        pubkey: chain.identity,
        clientId: 'Slotgate',
        version: VERSION,
        featureSet: 0,
        shredVersion: 0,
        rpc: address,
        pubsub: address,
        // no other node could reach this one
        gossip: null,
        serveRepair: null,
        tpu: null,
        tpuForwards: null,
        tpuForwardsQuic: null,
        tpuQuic: null,
        tpuVote: null,
        tvu: null,
      },
    ],
  },

  getRecentPerformanceSamples: {
    required: 0,
    optional: 1,
    answer({ chain }, [limit]) {
      const most = optional(limit, u64) ?? MAX_SAMPLES;
      if (most > MAX_SAMPLES) throw invalidParams(`Invalid limit; max ${MAX_SAMPLES}`);
      return chain.samples(most).map(({ slot, transactions, slots, seconds }) => ({
        slot,
        numTransactions: transactions,
        numNonVoteTransactions: transactions,
        numSlots: slots,
        samplePeriodSecs: seconds,
      }));
    },
  },

  getRecentPrioritizationFees: {
    required: 0,
    optional: 1,
    answer({ chain }, [keys]) {
      const accounts = list(keys ?? [], MAX_FEE_ACCOUNTS).map(address);
      return chain.prioritizationFees(accounts).map(({ slot, fee }) => ({ slot, prioritizationFee: fee }));
    },
  },
};

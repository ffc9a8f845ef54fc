import { invalidParams, JsonRpcError } from '../encode/json-rpc-error.ts';
import { readAddress, readList, readOptional, readU64 } from './json-rpc-params.ts';
import { type MethodHandlers, method, NODE_VERSION } from './method-handler.ts';

/** Maximum lag of a healthy node in slots. */
const MAX_SLOTS_BEHIND = 128;
const MAX_SAMPLES = 720;
const MAX_FEE_ACCOUNTS = 128;

/** RPC methods that read the node and the cluster's load. */
export const CLUSTER_METHODS: MethodHandlers = {
  getHealth: method(0, 0, ({ chain }) => {
    const behind = chain.slotClock.currentSlot() - chain.workingSlot;
    if (behind > MAX_SLOTS_BEHIND)
      throw new JsonRpcError(-32005, `Node is behind by ${behind} slots`, { numSlotsBehind: behind });
    return 'ok';
  }),

  getVersion: method(0, 0, () => ({ 'feature-set': 0, 'solana-core': NODE_VERSION })),
  getGenesisHash: method(0, 0, ({ chain }) => chain.genesisHash),
  getAgGenesisCert: method(0, 0, () => null), // as agave 4.2.2 under Tower

  getClusterNodes: method(0, 0, ({ chain, address }) => [
    {
      pubkey: chain.identity,
      clientId: 'Slotgate',
      version: NODE_VERSION,
      featureSet: 0,
      shredVersion: 0,
      rpc: address,
      pubsub: address,
      // no other node could connect to this one
      gossip: null,
      serveRepair: null,
      tpu: null,
      tpuForwards: null,
      tpuForwardsQuic: null,
      tpuQuic: null,
      tpuVote: null,
      tvu: null,
    },
  ]),

  getRecentPerformanceSamples: method(0, 1, ({ chain }, [limit]) => {
    const maxSamples = readOptional(limit, readU64) ?? MAX_SAMPLES;
    if (maxSamples > MAX_SAMPLES) throw invalidParams(`Invalid limit; max ${MAX_SAMPLES}`);
    return chain.performanceSamples(maxSamples).map(({ slot, transactions, slots, seconds }) => ({
      slot,
      numTransactions: transactions,
      numNonVoteTransactions: transactions,
      numSlots: slots,
      samplePeriodSecs: seconds,
    }));
  }),

  getRecentPrioritizationFees: method(0, 1, ({ chain }, [keys]) => {
    const accounts = readList(keys ?? [], MAX_FEE_ACCOUNTS).map(readAddress);
    return chain.prioritizationFees(accounts).map(({ slot, fee }) => ({ slot, prioritizationFee: fee }));
  }),
};

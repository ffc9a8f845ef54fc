import { invalidParams, JsonRpcError } from '../encode/json-rpc-error.ts';
import { readBankView } from './bank-view.ts';
import { readAddress, readCommitment, readConfig, readList, readOptional, readU64 } from './json-rpc-params.ts';
import { type MethodHandlers, method, NODE_VERSION } from './method-handler.ts';

/** Maximum lag of a healthy node in slots. */
const MAX_SLOTS_BEHIND = 128;
const MINIMUM_DELEGATION = 1_000_000_000;
const MAX_REWARD_ACCOUNTS = 1024;
const MAX_SAMPLES = 720;
const MAX_FEE_ACCOUNTS = 128;

export const CLUSTER_METHODS: MethodHandlers = {
  getHealth: method(0, 0, ({ chain }) => {
    const behind = chain.slotClock.currentSlot() - chain.workingSlot;
    if (behind > MAX_SLOTS_BEHIND)
      throw new JsonRpcError(-32005, `Node is behind by ${behind} slots`, { numSlotsBehind: behind });
    return 'ok';
  }),

  getVersion: method(0, 0, () => ({ 'feature-set': 0, 'solana-core': NODE_VERSION })),
  getIdentity: method(0, 0, ({ chain }) => ({ identity: chain.identity })),

  getVoteAccounts: method(0, 1, (_node, [options]) => {
    const { votePubkey, ...config } = readConfig(options);
    readOptional(votePubkey, readAddress);
    readCommitment(config);
    return { current: [], delinquent: [] }; // blocks become final without votes here
  }),

  getStakeMinimumDelegation: method(0, 1, (node, [options]) =>
    readBankView(node, { ...readConfig(options), minContextSlot: undefined }).withContext(MINIMUM_DELEGATION),
  ),

  getInflationRate: method(0, 0, ({ chain }) => ({
    epoch: chain.epochOf(chain.slot('finalized')).epoch,
    foundation: 0,
    total: 0,
    validator: 0,
  })),

  getInflationGovernor: method(0, 1, (_node, [options]) => {
    readCommitment(readConfig(options));
    return { foundation: 0, foundationTerm: 0, initial: 0, taper: 0, terminal: 0 };
  }),

  getHighestSnapshotSlot: method(0, 0, () => {
    throw new JsonRpcError(-32008, 'No snapshot'); // all is in memory
  }),

  getInflationReward: method(0, 2, (node, [keys, options]) => {
    const wanted = readList(keys ?? [], MAX_REWARD_ACCOUNTS).map(readAddress);
    const { epoch, ...config } = readConfig(options);
    const { slot } = readBankView(node, config);
    const { slotsPerEpoch } = node.chain;
    const rewarded = readOptional(epoch, readU64) ?? Math.max(0, node.chain.epochOf(slot).epoch - 1);
    const first = (rewarded + 1) * slotsPerEpoch; // where rewards are paid
    if (first > slot) throw new JsonRpcError(-32004, `Block not available for slot ${first}`);
    return wanted.map(() => null);
  }),

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

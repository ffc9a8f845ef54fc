/**
 * Faults of the feed that a test injects. A plain object that the feed reads with each message, so that a change takes
 * effect immediately.
 */
export interface GeyserFaults {
  /** `yellowstone`: accounts, block, block meta, slot status. `richat`: the slot status first. */
  order: 'yellowstone' | 'richat';
  /** Number of next blocks that are never sent at confirmed and finalized, nor replayed: they could not be sealed. */
  omittedBlocks: number;
  /** Base58 owner whose accounts are dropped at the entrance of the plugin. */
  rejectedOwner: string | undefined;
  /** Base58 address whose writes are lost. */
  lostAddress: string | undefined;
  /** Milliseconds until the filter of a new request is in force. */
  filterDelayMs: number;
  /** True while the balances of all wallets are sent one lamport too high. */
  isForging: boolean;
  /** True while the blocks are those of another cluster. */
  hasOtherGenesis: boolean;
  /** True while each replay is sent twice. */
  replaysTwice: boolean;
  /** True while two banks are reported for each slot, of which one dies. */
  hasTwoBanks: boolean;
  /** True while requests for accounts in blocks are refused. */
  refusesAccountsInBlocks: boolean;
  /** True while nothing is sent. */
  isSilent: boolean;
  /** The token that each call must carry in `x-token`; undefined for none. */
  token: string | undefined;
  /** What `GetVersion` answers. */
  version: string;
  /** Number of blocks that can be replayed. */
  replaySlots: number;
}

/** Creates the state without faults. */
export const noGeyserFaults = (): GeyserFaults => ({
  order: 'yellowstone',
  omittedBlocks: 0,
  rejectedOwner: undefined,
  lostAddress: undefined,
  filterDelayMs: 0,
  isForging: false,
  hasOtherGenesis: false,
  replaysTwice: false,
  hasTwoBanks: false,
  refusesAccountsInBlocks: false,
  isSilent: false,
  token: undefined,
  version: JSON.stringify({ version: { package: 'yellowstone-grpc-geyser', version: '15.1.2', proto: '12.6.0' } }),
  replaySlots: 150,
});

/** Faults of the feed that a test injects. The feed reads them with each message, so a change takes effect immediately. */
export class GeyserFaults {
  /** `yellowstone`: accounts, block, block meta, slot status. `richat`: the slot status first. */
  order: 'yellowstone' | 'richat' = 'yellowstone';
  /** Number of next blocks that are never sent at confirmed and finalized, nor replayed: they could not be sealed. */
  omittedBlocks = 0;
  /** Base58 owner whose accounts are dropped at the entrance of the plugin. */
  rejectedOwner: string | undefined;
  /** Base58 address whose writes are lost. */
  lostAddress: string | undefined;
  /** Milliseconds until the filter of a new request is in force. */
  filterDelayMs = 0;
  /** True while the balances of all wallets are sent one lamport too high. */
  isForging = false;
  /** True while the blocks are those of another cluster. */
  hasOtherGenesis = false;
  /** True while each replay is sent twice. */
  replaysTwice = false;
  /** True while two banks are reported for each slot, of which one dies. */
  hasTwoBanks = false;
  /** True while requests for accounts in blocks are refused. */
  refusesAccountsInBlocks = false;
  /** True while nothing is sent. */
  isSilent = false;
  /** The token that each call must carry in `x-token`; undefined for none. */
  token: string | undefined;
  /** What `GetVersion` answers. */
  version = JSON.stringify({ version: { package: 'yellowstone-grpc-geyser', version: '15.1.2', proto: '12.6.0' } });
  /** Number of blocks that can be replayed. */
  replaySlots = 150;
}

/** Who causes work at the upstream, and how much it was: the units that are charged afterwards follow from it. */
export class RequestCost {
  /** Key of the rate limit that pays: shares at the upstream are counted by it. */
  readonly caller: string;
  /** Whether the tier of the caller goes first. */
  readonly hasPriority: boolean;
  /** Calls that were made at the upstream. */
  calls = 0;
  /** Scans of a whole program (getProgramAccounts) among them. */
  scans = 0;
  /** Bytes that were read from nodes. */
  bytes = 0;
  /** Rows that were decoded: accounts of token lists, tokens whose names were read, transactions of a block. */
  rows = 0;

  constructor(caller: string, hasPriority: boolean) {
    this.caller = caller;
    this.hasPriority = hasPriority;
  }
}

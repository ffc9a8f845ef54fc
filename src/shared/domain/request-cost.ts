/** The caller of work at the upstream, and its amount: the units that are charged afterwards follow from it. */
export class RequestCost {
  /** Key of the rate limit that pays: shares at the upstream are counted by it. */
  readonly caller: string;
  readonly hasPriority: boolean;
  calls = 0;
  /** Scans of a whole program (getProgramAccounts) among them. */
  scans = 0;
  bytes = 0;
  /** Accounts and mints of lists, tokens by name (two each), transactions of a block, KiB of the records of others. */
  rows = 0;
  /** Addresses of `/balances` and getMultipleAccounts that were read from a node. */
  addresses = 0;
  #callsUnderWay = 0;
  #onCallsEnded: () => void = () => {};

  constructor(caller: string, hasPriority: boolean) {
    this.caller = caller;
    this.hasPriority = hasPriority;
  }

  /** Marks the begin of a call, which counts until {@link endCall}. */
  beginCall(): void {
    this.#callsUnderWay++;
  }

  endCall(): void {
    if (--this.#callsUnderWay === 0) this.#onCallsEnded();
  }

  /** Calls back when the calls that are under way have ended: an answer doesn't wait for them where one has failed. */
  onCallsEnded(callback: () => void): void {
    if (this.#callsUnderWay > 0) this.#onCallsEnded = callback;
  }
}

export function countRows({ cost }: { readonly cost?: RequestCost | undefined }, rows: number): void {
  if (cost !== undefined) cost.rows += rows;
}

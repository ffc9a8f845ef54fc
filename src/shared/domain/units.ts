export const BASE_UNITS = 1;

/** The units that a nonce adds: an answer signed for one caller costs more than one for all. */
export const NONCE_UNITS = 1;

export const SCAN_UNITS = 20;

/** The upstream calls that cost one unit, after a first one that costs none. */
const CALLS_PER_UNIT = 10;

/** The rows that cost one unit, after the first ones that cost none: some 15 ms of CPU. */
const ROWS_PER_UNIT = 100;

/** The addresses of `/balances` and getMultipleAccounts that cost one unit, after the first ones that cost none. */
const ADDRESSES_PER_UNIT = 10;

/** The bytes of a transaction's record that are decoded in the time of one row. */
const RECORD_BYTES_PER_ROW = 1024;
const MIB = 1 << 20;

/** Returns how many of a size are started beyond the first, which costs none. */
const startedBeyondFirst = (amount: number, size: number): number => Math.max(0, Math.ceil(amount / size) - 1);

/** Returns the units of a number of bytes: one for each started MiB beyond the first. */
export const unitsOfBytes = (bytes: number): number => startedBeyondFirst(bytes, MIB);

/** The bytes of a request body that one unit pays for. */
const BODY_BYTES_PER_UNIT = 16 * 1024;

/** Returns the units of a request body: one for each started 16 KiB, the first of which every request pays. */
export const unitsOfBody = (bytes: number): number => startedBeyondFirst(bytes, BODY_BYTES_PER_UNIT);

export const rowsOfRecord = (bytes: number): number => Math.ceil(bytes / RECORD_BYTES_PER_ROW);

/** Returns the units of addresses that a node is read for: one for each started ten beyond the first. */
export const unitsOfAddresses = (addresses: number): number => startedBeyondFirst(addresses, ADDRESSES_PER_UNIT);

/** Returns the units of what was made at the upstream. Failed calls and refused answers count, too. */
export const unitsOfUpstream = ({ calls, scans, bytes, rows, addresses }: UpstreamWork): number =>
  Math.ceil(Math.max(0, calls - 1) / CALLS_PER_UNIT) +
  SCAN_UNITS * scans +
  unitsOfBytes(bytes) +
  startedBeyondFirst(rows, ROWS_PER_UNIT) +
  unitsOfAddresses(addresses);

/**
 * Returns true for work so small that one unit pays for it. Only such work is repeated ahead of the next reader: nobody
 * is charged for that, and a caller that reads an answer in each slot pays one unit for each.
 */
export const isWithinOneUnit = ({ calls, scans, bytes, rows, addresses }: UpstreamWork): boolean =>
  calls <= CALLS_PER_UNIT && scans === 0 && bytes <= MIB && rows <= ROWS_PER_UNIT && addresses <= ADDRESSES_PER_UNIT;

type UpstreamWork = Pick<RequestCost, 'calls' | 'scans' | 'bytes' | 'rows' | 'addresses'>;

/** The length of a text that can't be longer than one MiB, whatever its characters. */
const SURELY_SHORT = MIB / 3;

/** Returns the units of a text as an answer. */
export const unitsOfText = (text: string): number =>
  text.length < SURELY_SHORT ? 0 : unitsOfBytes(Buffer.byteLength(text));

const NOTHING = (): void => {};

/** The caller of the gateway's own work, which no request pays for. */
export const GATEWAY_CALLER = '';

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
  #onCallsEnded = NOTHING;

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

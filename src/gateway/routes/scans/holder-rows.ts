import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { MAX_U64 } from '../../../shared/domain/max-u64.ts';
import { decodeKey, encodeKey, MULTISIG_BYTES } from '../../../transactions/index.ts';
import { eachProgramAccount, parseListedSpace } from '../../upstream/reads/program-accounts.ts';

/** Bytes of a token account that are read: owner and amount. */
export const HOLDER_DATA_SLICE = { offset: 32, length: 40 } as const;

/** Size of a packed row: the amount's complement, so that rows sort as bytes, then address and owner. */
const ROW_BYTES = 72;

/** The most rows of a table: 40 MiB. */
const MAX_ROWS = Math.ceil((40 << 20) / ROW_BYTES);

/**
 * Packs the holders in lists of token accounts, which are the JSON of getProgramAccounts, largest first, then by the bytes of
 * their addresses; empty accounts are left out. The first list has accounts of the length of a token account only, a second
 * one those with extensions: an account that grew between the two counts as in the first one. It takes seconds, so a thread
 * does it; threads share the memory of the rows. Throws `result_too_large` beyond {@link MAX_ROWS}.
 */
export function packHolderRows(lists: readonly Buffer[]): SharedArrayBuffer {
  const unsorted = Buffer.allocUnsafeSlow(MAX_ROWS * ROW_BYTES); // pages that nothing is written to take no memory
  let total = 0;
  const listed = new Set<string>(); // the addresses in the first of several lists
  for (const [at, list] of lists.entries()) {
    const isExtended = at > 0;
    for (const { address, data, row } of eachProgramAccount(list)) {
      const key = decodeKey(address);
      if (key === undefined || data.length !== HOLDER_DATA_SLICE.length) throw noTokenAccount();
      if (isExtended) {
        const space = parseListedSpace(row); // a node need not say it where the scan is of one length
        if (Number.isNaN(space)) throw noTokenAccount();
        if (space === MULTISIG_BYTES) continue; // its signers, which anyone may choose, can look like a holder
        if (listed.has(address)) continue;
      } else if (lists.length > 1) listed.add(address);
      const amount = data.readBigUInt64LE(32);
      if (amount === 0n) continue;
      if (total === MAX_ROWS) throw new GatewayError('result_too_large', 'the mint has too many holders');
      const start = total++ * ROW_BYTES;
      unsorted.writeBigUInt64BE(MAX_U64 - amount, start); // largest first
      unsorted.set(key, start + 8);
      unsorted.set(data.subarray(0, 32), start + 40);
    }
  }
  const endOf = (row: number): number => (row + 1) * ROW_BYTES;
  const order = orderOfRows(total, (a, b) =>
    unsorted.compare(unsorted, b * ROW_BYTES, endOf(b), a * ROW_BYTES, endOf(a)),
  );
  const memory = new SharedArrayBuffer(total * ROW_BYTES);
  const rows = Buffer.from(memory);
  order.forEach((row, place) => void unsorted.copy(rows, place * ROW_BYTES, row * ROW_BYTES, endOf(row)));
  return memory;
}

const noTokenAccount = (): GatewayError =>
  new GatewayError('upstream_error', 'a listed account is not a token account');

/** Returns the rows 0 to `total` - 1 in the order of a comparison. Equal ones stay as they are. */
export const orderOfRows = (total: number, compare: (a: number, b: number) => number): Uint32Array =>
  Uint32Array.from({ length: total }, (_, row) => row).sort(compare);

export class HolderRows {
  readonly memory: SharedArrayBuffer;
  readonly #rows: Buffer;

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#rows = Buffer.from(memory);
  }

  get total(): number {
    return this.#rows.length / ROW_BYTES;
  }

  holderAt(row: number) {
    const address = this.#rows.subarray(row * ROW_BYTES + 8, row * ROW_BYTES + 40);
    return { address: encodeKey(address), owner: encodeKey(this.ownerAt(row)), amount: this.amountAt(row) };
  }

  ownerAt(row: number): Buffer {
    return this.#rows.subarray(row * ROW_BYTES + 40, (row + 1) * ROW_BYTES);
  }

  amountAt(row: number): bigint {
    return MAX_U64 - this.#rows.readBigUInt64BE(row * ROW_BYTES);
  }
}

import { decodeBase58, maxBase58Length } from '../codec/base58.ts';
import { type ByteReader, tryDecode } from '../codec/byte-reader.ts';
import { FORMATS, fieldsReader } from '../codec/fields.ts';
import { asBigInt, asString } from '../codec/json-fields.ts';

/** The price that a listing or a bid names. A sale names the most or least that its maker accepts, which is none. */
export interface NamedPrice {
  readonly amount: bigint;
  /** The mint of its currency as far as the data names it; null if it does not, or for SOL. */
  readonly currencyMint: string | null;
}

/** A call of a program, with its data in base58; null if only its decoded form is known. */
export interface ProgramCall {
  readonly programId: string;
  readonly data: string | null;
  readonly accounts: readonly string[];
}

const skip = (length: number) => (reader: ByteReader) => reader.bytes(length);

const PRICE_FORMATS = {
  ...FORMATS,
  ...{ 8: skip(8), 10: skip(10), 73: skip(73), 116: skip(116) },
  'u8?': (reader: ByteReader) => reader.option(() => reader.u8()),
  'u64?': (reader: ByteReader) => reader.option(() => reader.u64()),
  '32?': (reader: ByteReader) => reader.option(() => reader.bytes(32)),
};

const MAX_DATA_LENGTH = maxBase58Length(4096);

/**
 * Returns the reader of the price in an instruction's data, whose fields are `amount`, `currencyMint` and those before them.
 * With more accounts than `mostAccounts` it may name another currency than SOL: then there is none.
 */
export function priceReader(fields: string, mostAccounts = ''): (call: ProgramCall) => NamedPrice | null {
  const read = fieldsReader(fields, PRICE_FORMATS);
  const most = mostAccounts === '' ? Number.POSITIVE_INFINITY : Number(mostAccounts);
  return ({ data, accounts }) => {
    const isRead = data !== null && data.length <= MAX_DATA_LENGTH && accounts.length <= most;
    const bytes = isRead ? decodeBase58(data) : undefined;
    const named = bytes && tryDecode(bytes, read);
    const amount = asBigInt(named?.['amount']);
    return amount === null ? null : { amount, currencyMint: asString(named?.['currencyMint']) };
  };
}

import { decodeBase58, maxBase58Length } from '../codec/base58.ts';
import { type ByteReader, tryDecode } from '../codec/byte-reader.ts';
import type { ProgramCall } from './program-instruction.ts';

/** A price that an instruction names. */
export interface NamedPrice {
  readonly amount: bigint;
  /** The mint of its currency as far as the data names it; null if it does not, or for SOL. */
  readonly currencyMint: string | null;
}

interface PriceLayout {
  /** Reads the data up to the price. */
  readonly skip: (reader: ByteReader) => void;
  /** Reads an optional currency behind the price. */
  readonly currency?: (reader: ByteReader) => string | null;
  /** Most accounts of the instruction: more of them may name another currency than SOL. */
  readonly maxAccounts?: number;
}

const at = (offset: number): Pick<PriceLayout, 'skip'> => ({ skip: (reader) => reader.bytes(offset) });

/** Reads Tensor's expiry and currency, both optional. */
const tensorCurrency = (reader: ByteReader): string | null => {
  reader.option(() => reader.u64());
  return reader.option(() => reader.pubkey());
};

/** Skips what Tensor's bid names before its price: id, kind and id of its target, an optional field with its id. */
const skipTensorTarget = (reader: ByteReader): void => {
  reader.bytes(8 + 32 + 1 + 32);
  reader.option(() => reader.u8());
  reader.option(() => reader.bytes(32));
};

/**
 * Where listings and bids name their price, by program and instruction: from the descriptions that the instruction tables
 * are made from. A sale names the most or least that its maker accepts, so its price is not read from the data.
 */
const PRICES: Readonly<Record<string, Readonly<Record<string, PriceLayout>>>> = {
  M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K: {
    sell: at(10),
    buy: at(10),
    buy_v2: at(8),
    ocp_sell: { ...at(8), maxAccounts: 18 },
    mip1_sell: { ...at(8), maxAccounts: 22 },
    core_sell: at(8),
  },
  TCMPhJdwDryooaGtiocG1u3xcYbRpiJzb283XfCZsDp: {
    list: { ...at(116), currency: tensorCurrency },
    list_legacy: { ...at(8), currency: tensorCurrency },
    list_t22: { ...at(8), currency: tensorCurrency },
    list_wns: at(8),
    list_core: { ...at(8), currency: tensorCurrency },
    edit: { ...at(8), currency: tensorCurrency },
    bid: {
      skip: skipTensorTarget,
      currency: (reader) => {
        reader.u32(); // how many are wanted
        return tensorCurrency(reader);
      },
    },
  },
  TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN: {
    list: at(8),
    list_t22: at(8),
    wns_list: at(8),
    edit_single_listing: at(8),
  },
  TB1Dqt8JeKQh7RLDzfYDJsq8KS4fS2yt87avRjyRxMv: { bid: at(8) },
};

const MAX_DATA_LENGTH = maxBase58Length(4096);

/** Reads the price that a listing or a bid names; null if it names none that can be read. */
export function findNamedPrice({ programId, data, accounts }: ProgramCall, instruction: string): NamedPrice | null {
  const program = Object.hasOwn(PRICES, programId) ? PRICES[programId] : undefined;
  const layout = program !== undefined && Object.hasOwn(program, instruction) ? program[instruction] : undefined;
  if (layout === undefined || data === null || data.length > MAX_DATA_LENGTH) return null;
  if (accounts.length > (layout.maxAccounts ?? accounts.length)) return null;
  const bytes = decodeBase58(data);
  if (bytes === undefined) return null;
  const price = tryDecode(bytes, (reader) => {
    layout.skip(reader);
    return { amount: reader.u64(), currencyMint: layout.currency?.(reader) ?? null };
  });
  return price ?? null;
}

import { Packr } from 'msgpackr/pack';
import { MAX_U64 } from '../../../shared/domain/max-u64.ts';
import type { NetworkSnapshot } from '../../../shared/domain/network-snapshot.ts';
import type { Entry } from '../../cache/entry.ts';
import type { Sealer } from '../../serving/sealer.ts';

export type FrameFormat = 'json' | 'msgpack';

export interface FrameEncoding {
  readonly format: FrameFormat;
  /** The request that its receipt names; undefined for frames without a receipt. */
  readonly request: string | undefined;
}

/** One frame in every encoding that is needed, each made once. */
export class EncodedFrame {
  readonly #entry: Entry;
  readonly #snapshot: NetworkSnapshot;
  readonly #sealer: Sealer;
  readonly #signedFrames = new Map<string, string>();
  /** The time up to which receipts were invalid when these were made. */
  #signedSinceMs = Number.NaN;
  readonly #jsonFrame: Buffer;
  #msgpackFrame: Buffer | undefined;

  constructor(entry: Entry, snapshot: NetworkSnapshot, sealer: Sealer) {
    this.#entry = entry;
    this.#snapshot = snapshot;
    this.#sealer = sealer;
    this.#jsonFrame = Buffer.from(entry.body ?? '');
  }

  /** Encodes the frames with receipts, all under one signature. */
  sign(encodings: readonly FrameEncoding[]): void {
    const requests = encodings.flatMap(({ request }) => request ?? []);
    if (requests.length === 0) return;
    const frames = this.#sealer.sealFrame(this.#entry, requests);
    this.#signedSinceMs = this.#sealer.invalidUntilMs;
    requests.forEach((request, i) => {
      this.#signedFrames.set(request, frames[i] ?? ''); // one for each
    });
  }

  encodedAs(encoding: FrameEncoding): string | Buffer {
    const { format, request } = encoding;
    if (format === 'msgpack') {
      this.#msgpackFrame ??= packFrame(this.#snapshot);
      return this.#msgpackFrame;
    }
    if (request === undefined) return this.#jsonFrame;
    if (this.#signedSinceMs !== this.#sealer.invalidUntilMs) this.#signedFrames.clear(); // their key was revoked
    if (!this.#signedFrames.has(request)) this.sign([encoding]);
    return this.#signedFrames.get(request) ?? '';
  }
}

/** A packer of plain maps, readable by every MessagePack library. */
const packr = new Packr({ useRecords: false });

/** Encodes a frame as MessagePack: the same members as its JSON, integers as integers. */
export const packFrame = (snapshot: NetworkSnapshot): Buffer =>
  packr.pack({ result: packableObject(snapshot), slot: packableNumber(snapshot.slot) });

const packableObject = (members: object): object =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, packable(value)]));

function packable(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return packableNumber(value);
  return typeof value === 'object' && value !== null ? packableObject(value) : value;
}

/**
 * Returns an integer as the type that the packer writes as an integer: it writes numbers beyond 32 bits as doubles. What 64
 * bits don't hold, and a number that is not exact, stays a double.
 */
function packableNumber(value: number | bigint): number | bigint {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value > 0xffff_ffff ? BigInt(value) : value;
  return value > 0xffff_ffffn && value <= MAX_U64 ? value : Number(value);
}

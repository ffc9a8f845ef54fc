import { createHash } from 'node:crypto';
import { addExtension, Packr } from 'msgpackr/pack';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { Event, EventOf } from './events.ts';

/** The members of each event in the order in which they are packed. Others are packed with their names. */
const EVENTS: { readonly [T in Event['type']]: readonly (keyof EventOf<T>)[] } = {
  'tip-advanced': ['type', 'commitment', 'slot', 'parent'],
  'watermark-advanced': ['type', 'id', 'commitment', 'slot', 'ageMs', 'state', 'lagSlots'],
  'answer-stored': ['type', 'key', 'isLive', 'answer'],
  'answer-ended': ['type', 'key'],
  'unagreed-dropped': ['type'],
  'exact-granted': ['type', 'slot'],
  'vitals-changed': ['type', 'vitals'],
  'receipt-keys-changed': ['type'],
  'account-set': ['type', 'key', 'slot', 'watermark', 'value', 'heldUntil'],
  'list-set': ['type', 'key', 'slot', 'watermark', 'value'],
  'value-ended': ['type', 'key', 'reason', 'slot'],
  'states-read': ['type', 'reads', 'needsValues'],
};

const ANSWER = [
  ...['slot', 'final', 'policy', 'meta', 'tipAtFetch', 'ageMs', 'result', 'refusal', 'digest', 'grant'],
  ...['agreement', 'body', 'sealedAgeMs', 'lease'],
];
/** The structures that both sides of a channel know beforehand: of events, what they have inside, and messages of them. */
export const STRUCTURES: readonly (readonly string[])[] = [
  ...Object.values(EVENTS),
  ANSWER,
  ['watermarks', 'slot', 'endSlot'],
  ['slot', 'agreed', 'read', 'needed'],
  ['slots'],
  ['ms'],
  ['key', 'rank', 'tipAtLastRead'],
  ['kind', 'commitment', 'address'],
  ['accounts', 'scales', 'identities', 'dependsOnClock'],
  ['address', 'lamports', 'token'],
  ['decimals'],
  ['type', 'epoch', 'leader', 'seq', 'events'],
];

/** Names the structures: those that have others can't decode what is encoded with these. */
export const CODEC_VERSION = createHash('sha256').update(JSON.stringify(STRUCTURES)).digest('hex').slice(0, 8);

// An error keeps what callers see of it; its cause stays where it was thrown.
addExtension({
  Class: GatewayError,
  type: 1,
  write: ({ code, message, status, retryAfter, rpcCode, rpcData, oldestSlot, final, jsonRpcId }: GatewayError) => [
    code,
    message,
    { status, retryAfter, rpcCode, rpcData, oldestSlot, final, jsonRpcId },
  ],
  read: ([code, message, details]: ConstructorParameters<typeof GatewayError>) =>
    new GatewayError(code, message, details),
});

export class EventCodec {
  readonly #packr: Packr;

  /** `structures` are those of the process that encodes. Default: of this build. */
  constructor(structures = STRUCTURES) {
    this.#packr = new Packr({
      structures: structures.map((fields) => [...fields]),
      maxSharedStructures: structures.length, // so that none is added which the other side does not know
      useBigIntExtension: true,
    });
  }

  encode(value: object): Buffer {
    return this.#packr.pack(value);
  }

  /** Decodes what an authentic source has encoded as `T`. Byte arrays in it are views of `bytes`. */
  decode<T = Event>(bytes: Uint8Array): T {
    return this.#packr.unpack(bytes);
  }
}

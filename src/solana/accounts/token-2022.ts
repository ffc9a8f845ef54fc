import { type ByteReader, readBytes } from '../codec/byte-reader.ts';
import { EXTENSION_KINDS } from './extension-kinds.ts';
import { EXTENSION_STATES } from './extension-states.ts';

/** Extensions that say all by being there. */
const MARKERS = ['immutableOwner', 'nonTransferable', 'nonTransferableAccount', 'pausableAccount'] as const;

type Marker = (typeof MARKERS)[number];
type States = typeof EXTENSION_STATES;
type Kind = Marker | keyof States;

/** A feature that a Token-2022 mint or account has switched on: name, members and values as a node's jsonParsed has them. */
export type Extension =
  | { readonly [K in keyof States]: { readonly extension: K; readonly state: ReturnType<States[K]> } }[keyof States]
  | { readonly extension: Marker | 'unparseableExtension' };

const HEADER = 4;

/**
 * The extensions in the part of a mint or an account that follows its base, as they lie there: number, length, value.
 * One whose value can't be read is listed as unparseable; where the list itself breaks off, so does the answer.
 */
export function readExtensions(list: Uint8Array): readonly Extension[] {
  const extensions: Extension[] = [];
  readBytes(list, (from) => {
    while (from.left >= HEADER) {
      const kind = EXTENSION_KINDS[from.u16()];
      if (kind === 'uninitialized') return; // the room behind it is unused
      extensions.push(readExtension(kind, from.bytes(from.u16())));
    }
  });
  return extensions;
}

function readExtension(kind: Kind | undefined, value: Uint8Array): Extension {
  if (kind === undefined) return { extension: 'unparseableExtension' };
  if (isMarker(kind)) return { extension: kind };
  const state = readBytes(value, (from) => readWhole(kind, from));
  // The state was read by the reader of this very kind; the compiler can't follow the pair through the table.
  return state === undefined ? { extension: 'unparseableExtension' } : ({ extension: kind, state } as Extension);
}

function readWhole(kind: keyof States, from: ByteReader): unknown {
  const state = EXTENSION_STATES[kind](from);
  if (from.left > 0) throw new RangeError(`${from.left} bytes too many`);
  return state;
}

const isMarker = (kind: Kind): kind is Marker => MARKERS.some((marker) => marker === kind);

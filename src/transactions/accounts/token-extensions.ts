import { type ByteReader, tryDecode } from '../codec/byte-reader.ts';
import { EXTENSION_DECODERS } from './extension-decoders.ts';
import { EXTENSION_TYPES } from './extension-types.ts';

/** Extensions without a value: their presence is the setting. */
const MARKER_EXTENSIONS = ['immutableOwner', 'nonTransferable', 'nonTransferableAccount', 'pausableAccount'] as const;

type MarkerExtension = (typeof MARKER_EXTENSIONS)[number];
type ExtensionDecoders = typeof EXTENSION_DECODERS;
type KnownExtension = MarkerExtension | keyof ExtensionDecoders;

/** A feature that a Token-2022 mint or account has enabled; name, members and values as in a node's jsonParsed. */
export type TokenExtension =
  | {
      readonly [K in keyof ExtensionDecoders]: {
        readonly extension: K;
        readonly state: ReturnType<ExtensionDecoders[K]>;
      };
    }[keyof ExtensionDecoders]
  | { readonly extension: MarkerExtension | 'unparseableExtension' };

const TLV_HEADER_BYTES = 4;

/**
 * Decodes the extensions after the base of a mint or account, in stored order: type, length, value. An extension whose
 * value can't be decoded is listed as unparseable. A list that is cut off yields the extensions before the cut.
 */
export function decodeExtensions(tlvBytes: Uint8Array): readonly TokenExtension[] {
  const extensions: TokenExtension[] = [];
  tryDecode(tlvBytes, (reader) => {
    while (reader.remaining >= TLV_HEADER_BYTES) {
      const extensionType = EXTENSION_TYPES[reader.u16()];
      if (extensionType === 'uninitialized') return; // the bytes after it are unused
      extensions.push(decodeExtension(extensionType, reader.bytes(reader.u16())));
    }
  });
  return extensions;
}

function decodeExtension(extensionType: KnownExtension | undefined, value: Uint8Array): TokenExtension {
  if (extensionType === undefined) return { extension: 'unparseableExtension' };
  if (isMarkerExtension(extensionType)) return { extension: extensionType };
  const state = tryDecode(value, (reader) => decodeExactly(extensionType, reader));
  // The state was read by the reader of this very kind; the compiler can't follow the pair through the table.
  return state === undefined
    ? { extension: 'unparseableExtension' }
    : ({ extension: extensionType, state } as TokenExtension);
}

function decodeExactly(extensionType: keyof ExtensionDecoders, reader: ByteReader): unknown {
  const state = EXTENSION_DECODERS[extensionType](reader);
  if (reader.remaining > 0) throw new RangeError(`${reader.remaining} bytes too many`);
  return state;
}

const isMarkerExtension = (extensionType: KnownExtension): extensionType is MarkerExtension =>
  MARKER_EXTENSIONS.some((marker) => marker === extensionType);

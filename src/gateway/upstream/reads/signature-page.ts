import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { YIELD_EVERY_BYTES } from '../json/cooperative.ts';
import { malformed } from '../json/json-scanner.ts';
import {
  canonicalJson,
  forEachElement,
  isNull,
  members,
  parseIntegerOrNull,
  parseSafeInteger,
  parseString,
} from '../json/raw-json.ts';
import type { Mesh } from '../mesh/mesh.ts';
import { RPC_ERROR_CODE } from '../rpc/rpc-error-code.ts';
import { translateRpcError } from '../rpc/translate-rpc-error.ts';

type SignatureReader = Pick<Mesh, 'call' | 'tip'>;

export type Finality = 'confirmed' | 'finalized';

export interface SignatureQuery {
  readonly address: string;
  /** Cursor: the page starts below this signature, or at the newest without one. */
  readonly before: string | undefined;
  /** Most rows, up to 1,000. */
  readonly limit: number;
  readonly commitment: Finality;
  readonly minSlot: Slot | undefined;
}

export interface SignatureRow {
  readonly signature: string;
  readonly slot: Slot;
  /** Unix seconds. */
  readonly blockTime: number | null;
  readonly confirmationStatus: Finality;
  /** Canonical JSON; `null` for success. */
  readonly err: string;
  readonly memo: string | null;
}

export interface SignaturePage {
  readonly slot: Slot;
  /** Rows below the cursor, newest first. */
  readonly rows: readonly SignatureRow[];
  /** Cursor of the next page; null when the node has no more. */
  readonly nextBefore: string | null;
}

/**
 * Reads a page of an address' history. The pages of one address come from one node while it is healthy, since each node
 * orders the transactions of a slot differently. Throws `cursor_not_found`.
 */
export async function readSignaturePage(mesh: SignatureReader, query: SignatureQuery): Promise<SignaturePage> {
  const { before, limit } = query;
  const { slot, rows: scanned } = await readSignatureRows(mesh, query);
  // Nodes order a slot's transactions differently; rows above the cursor were on an earlier page.
  const rows = scanned.slice(scanned.findLastIndex(({ signature }) => signature === before) + 1);
  const nextBefore = scanned.length === limit ? (rows.at(-1)?.signature ?? throwRepeatedPage()) : null;
  return { slot, rows, nextBefore };
}

/** As the node orders them. Reads with one `affinity` come from one node while healthy. Throws `cursor_not_found`. */
export async function readSignatureRows(
  mesh: SignatureReader,
  { address, before, limit, commitment, minSlot = 0 }: SignatureQuery,
  affinity = address,
): Promise<{ readonly slot: Slot; readonly rows: readonly SignatureRow[] }> {
  // The response names no slot: `minContextSlot` holds the node to the newest one instead.
  const minContextSlot = Math.max(minSlot, mesh.tip(commitment) ?? 0);
  const config = { limit, ...(before !== undefined && { before }), commitment, minContextSlot };
  const { slot, result } = await mesh
    .call('getSignaturesForAddress', [address, config], { commitment, affinity, minSlot })
    .catch(translateRpcError({ [RPC_ERROR_CODE.filterTransactionNotFound]: cursorNotFound }));
  const rows: SignatureRow[] = [];
  await forEachElement(result, YIELD_EVERY_BYTES, (row) => {
    if (rows.length < limit) rows.push(parseSignatureRow(row));
  });
  return { slot, rows };
}

/**
 * The longest row that is handled in one turn of the event loop: it has a memo and an error of a transaction of some 1,000
 * bytes.
 */
const MAX_ROW_BYTES = 64 * 1024;

function parseSignatureRow(bytes: Buffer): SignatureRow {
  if (bytes.length > MAX_ROW_BYTES) throw malformed();
  const parts = members(bytes);
  const [err, memo, status] = ['err', 'memo', 'confirmationStatus'].map((name) =>
    isNull(parts.get(name)) ? undefined : parts.get(name),
  );
  return {
    signature: parseString(parts.get('signature')),
    slot: parseSafeInteger(parts.get('slot')),
    blockTime: parseIntegerOrNull(parts.get('blockTime')),
    // Nodes leave it out of records from long-term storage.
    confirmationStatus: status === undefined || parseString(status) === 'finalized' ? 'finalized' : 'confirmed',
    err: err === undefined ? 'null' : canonicalJson(err),
    memo: memo === undefined ? null : parseString(memo),
  };
}

export const cursorNotFound = (): GatewayError =>
  new GatewayError(
    'cursor_not_found',
    '`before` names no transaction of this address that the cluster knows: take the nextBefore of a page',
  );

/** Throws for a page that would repeat: paging must not look as if it advanced. */
function throwRepeatedPage(): never {
  throw new GatewayError('upstream_error', 'the upstream returned the same page again');
}

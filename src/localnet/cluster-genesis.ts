import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import bs58 from 'bs58';
import { SLOT_MS } from '../domain/slot.ts';
import { createFile } from '../runtime/files/create-file.ts';
import { hasErrorCode } from '../runtime/files/error-code.ts';

/** What makes an embedded cluster the same one after a restart. */
export interface Genesis {
  /** Base58 of 32 random bytes. */
  readonly hash: string;
  /** Unix milliseconds of slot 0. */
  readonly originMs: number;
  /** How long a slot takes. */
  readonly slotMs: number;
}

/** A cluster's first slot is not its slot 0: it looks as if it had run for some days. */
const FIRST_SLOT = 1_000_000;

/** A new cluster. `random` is 32 bytes that nobody else has. */
export const createGenesis = (random: Uint8Array, nowMs: number, slotMs = SLOT_MS): Genesis => ({
  hash: bs58.encode(random),
  originMs: nowMs - FIRST_SLOT * slotMs,
  slotMs,
});

/**
 * The genesis of the cluster that lives in a folder: `fresh` if none does, and from then on that one. The origin and
 * the pace of its slots are kept with the hash, so that the slots of the next run go on above those of this one.
 * Throws on a file that it can't read as a genesis: a cluster must not change its identity unasked.
 */
export function loadOrCreateGenesis(folder: string, create: () => Genesis): Genesis {
  const path = join(folder, 'cluster.json');
  const existing = readGenesis(path);
  if (existing !== undefined) return existing;
  const genesis = create();
  const wasWritten = createFile(path, `${JSON.stringify(genesis)}\n`);
  return wasWritten ? genesis : loadOrCreateGenesis(folder, create); // another was faster
}

function readGenesis(path: string): Genesis | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  try {
    const { hash, originMs, slotMs } = JSON.parse(text);
    const isTimed = Number.isSafeInteger(originMs) && Number.isSafeInteger(slotMs) && slotMs > 0;
    if (bs58.decode(hash).length === 32 && isTimed) return { hash, originMs, slotMs };
  } catch (cause) {
    throw new Error(`${path} is not a cluster's genesis; remove it to start a new cluster`, { cause });
  }
  throw new Error(`${path} is not a cluster's genesis; remove it to start a new cluster`);
}

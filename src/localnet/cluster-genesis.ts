import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import bs58 from 'bs58';
import { SLOT_MS } from '../domain/slot.ts';
import { createFile } from '../runtime/files/create-file.ts';
import { hasErrorCode } from '../runtime/files/error-code.ts';

/** Identity and slot timing that an embedded cluster keeps over restarts. */
export interface Genesis {
  /** Base58 of 32 random bytes. */
  readonly hash: string;
  /** Unix milliseconds of slot 0. */
  readonly originMs: number;
  /** Length of a slot in milliseconds. */
  readonly slotMs: number;
}

/** First slot of a new cluster. It is not 0: the cluster looks as if it had run for some days. */
const FIRST_SLOT = 1_000_000;

/** Creates the genesis of a new cluster from 32 random bytes. */
export const createGenesis = (random: Uint8Array, nowMs: number, slotMs = SLOT_MS): Genesis => ({
  hash: bs58.encode(random),
  originMs: nowMs - FIRST_SLOT * slotMs,
  slotMs,
});

/**
 * Loads the genesis of the cluster whose state is in a folder; if there is none, creates and stores one. The origin and
 * the length of slots are stored with the hash, so the slots of the next run continue above those of this one. Throws
 * on a file that is not a genesis: a cluster never changes its identity silently.
 */
export function loadOrCreateGenesis(folder: string, create: () => Genesis): Genesis {
  const path = join(folder, 'cluster.json');
  const existing = readGenesis(path);
  if (existing !== undefined) return existing;
  const genesis = create();
  const wasWritten = createFile(path, `${JSON.stringify(genesis)}\n`);
  return wasWritten ? genesis : loadOrCreateGenesis(folder, create); // another process was faster
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

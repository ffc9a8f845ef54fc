import { timingSafeEqual } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Clock } from '../../domain/clock.ts';
import { hasCode } from '../../runtime/files/errno.ts';
import type { Account, Tier } from '../limits/tier.ts';
import { digestOfKey, isApiKey } from './api-key.ts';
import { isValid, type KeyRecord, type KeyTier } from './key-record.ts';
import { readKeys } from './key-store.ts';

interface Known {
  readonly record: KeyRecord;
  readonly digest: Buffer;
  readonly account: Account;
}

interface Keys {
  readonly byDigest: ReadonlyMap<string, Known>;
  readonly byId: ReadonlyMap<string, Known>;
}

export interface ApiKeysOptions {
  readonly path: string;
  readonly tiers: Readonly<Record<KeyTier, Tier>>;
  readonly clock: Clock;
  /** Told when the file can't be read; the keys that were known go on. */
  readonly onProblem: (problem: Error) => void;
}

/** A change of the key file is in force after so long. */
const POLL_MS = 500;

/** The keys that open something, as their file says now. */
export class ApiKeys {
  readonly #options: ApiKeysOptions;
  #known: Keys;
  #version: string | undefined;
  #problem: string | undefined;
  #isClosed = false;
  #cancelPoll: () => void;

  /** Throws a StartError that names the file when it can't be read. */
  constructor(options: ApiKeysOptions) {
    this.#options = options;
    this.#known = this.#load();
    this.#cancelPoll = options.clock.after(0, () => void this.#poll());
  }

  /** How many keys the file holds, those that open nothing any more included. */
  get size(): number {
    return this.#known.byId.size;
  }

  /** The account of a key; undefined when it opens nothing. */
  find(key: string): Account | undefined {
    if (!isApiKey(key)) return undefined;
    const digest = digestOfKey(key);
    const known = this.#known.byDigest.get(digest);
    // The look-up went by bits of a digest that nobody can choose; this one takes the same time whatever differs.
    if (known === undefined || !timingSafeEqual(known.digest, Buffer.from(digest, 'hex'))) return undefined;
    return isValid(known.record, this.#options.clock.now()) ? known.account : undefined;
  }

  /** Whether the key with this id opens anything now: it may have been revoked since it was shown. */
  isOpen(id: string): boolean {
    const known = this.#known.byId.get(id);
    return known !== undefined && isValid(known.record, this.#options.clock.now());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPoll();
  }

  #load(): Keys {
    const { path, tiers } = this.#options;
    const all = readKeys(path).map((record): Known => {
      const { id, tier, perIpLimit, sha256 } = record;
      const account = { id: `key ${id}`, key: id, tier: tiers[tier], perIpLimit };
      return { record, digest: Buffer.from(sha256, 'hex'), account };
    });
    return {
      byDigest: new Map(all.map((known) => [known.record.sha256, known])),
      byId: new Map(all.map((known) => [known.record.id, known])),
    };
  }

  async #poll(): Promise<void> {
    const { path, clock, onProblem } = this.#options;
    try {
      const version = await versionOf(path);
      if (version !== this.#version) {
        this.#version = version;
        this.#known = this.#load();
        this.#problem = undefined;
      }
    } catch (thrown) {
      const problem = thrown instanceof Error ? thrown : new Error(String(thrown));
      if (problem.message !== this.#problem) onProblem(problem);
      this.#problem = problem.message;
    }
    if (!this.#isClosed) this.#cancelPoll = clock.after(POLL_MS, () => void this.#poll());
  }
}

/** Differs for each file that ever stood at the path: a change is always a new file. */
async function versionOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return 'none';
    throw thrown;
  }
}

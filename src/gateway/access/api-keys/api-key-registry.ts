import { timingSafeEqual } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Clock } from '../../../shared/domain/clock.ts';
import { hasErrorCode } from '../../../shared/runtime/files/error-code.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import type { Principal, Tier } from '../limits/tiers.ts';
import { digestOfKey, isApiKey } from './api-key.ts';
import { type ApiKeyRecord, isKeyValid, type KeyTier } from './api-key-record.ts';
import { readApiKeys } from './api-key-store.ts';

interface LoadedKey {
  readonly record: ApiKeyRecord;
  readonly digest: Buffer;
  readonly principal: Principal;
}

export interface ApiKeyRegistryOptions {
  readonly path: string;
  readonly tiers: Readonly<Record<KeyTier, Tier>>;
  readonly clock: Clock;
  /** Receives an error when the file can't be read; the keys loaded before stay valid. */
  readonly onProblem: (problem: Error) => void;
  /** Called when the file has been read again after such an error. */
  readonly onRecovery: () => void;
}

const POLL_MS = 500;

/** The issued keys, reloaded when their file changes. */
export class ApiKeyRegistry {
  readonly #options: ApiKeyRegistryOptions;
  #byDigest: ReadonlyMap<string, LoadedKey> = new Map();
  #byId: ReadonlyMap<string, LoadedKey> = new Map();
  /** Those that callers have sent, by their text: only the first request with a key is hashed. */
  #byText = new Map<string, LoadedKey>();
  #fileVersion: string | undefined;
  /** Why the file could not be read last, so that keys may have been revoked since; undefined if it could. */
  problem: string | undefined;
  readonly close: () => void;

  /** Throws a StartError that names the file when it can't be read. */
  constructor(options: ApiKeyRegistryOptions) {
    this.#options = options;
    this.#load();
    this.close = repeat(options.clock, POLL_MS, () => this.#poll(), 0);
  }

  get size(): number {
    return this.#byId.size;
  }

  find(key: string): Principal | undefined {
    return this.#validPrincipal(this.#byText.get(key) ?? this.#findByDigest(key));
  }

  #findByDigest(key: string): LoadedKey | undefined {
    if (!isApiKey(key)) return undefined;
    const digest = digestOfKey(key);
    const loaded = this.#byDigest.get(digest);
    // The look-up used bits of a digest that nobody can choose; this comparison takes constant time.
    if (loaded === undefined || !timingSafeEqual(loaded.digest, Buffer.from(digest, 'hex'))) return undefined;
    this.#byText.set(key, loaded);
    return loaded;
  }

  /** Returns the tier of the key with this id; undefined if it isn't valid now: it may have been revoked since. */
  tierOf(id: string): Tier | undefined {
    return this.#validPrincipal(this.#byId.get(id))?.tier;
  }

  #validPrincipal(loaded: LoadedKey | undefined): Principal | undefined {
    return loaded !== undefined && isKeyValid(loaded.record, this.#options.clock.now()) ? loaded.principal : undefined;
  }

  #load(): void {
    const { path, tiers } = this.#options;
    const all = readApiKeys(path).map((record): LoadedKey => {
      const { id, tier, perIpLimit, sha256 } = record;
      const principal = { id: `key ${id}`, key: id, tier: tiers[tier], perIpLimit };
      return { record, digest: Buffer.from(sha256, 'hex'), principal };
    });
    this.#byDigest = new Map(all.map((known) => [known.record.sha256, known]));
    this.#byId = new Map(all.map((known) => [known.record.id, known]));
    this.#byText = new Map();
  }

  async #poll(): Promise<void> {
    const { path, onProblem, onRecovery } = this.#options;
    try {
      const version = await fileVersionOf(path);
      if (version === this.#fileVersion && this.problem === undefined) return;
      this.#load();
      this.#fileVersion = version; // only now: a version that could not be read is tried again
      if (this.problem !== undefined) onRecovery();
      this.problem = undefined;
    } catch (thrown) {
      const problem = thrown instanceof Error ? thrown : new Error(String(thrown));
      if (problem.message !== this.problem) onProblem(problem);
      this.problem = problem.message;
    }
  }
}

/** Returns a text that differs for each file ever at this path: a change always creates a new file. */
async function fileVersionOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOENT')) return 'none';
    throw thrown;
  }
}

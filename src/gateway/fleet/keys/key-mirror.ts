import type { Clock } from '../../../shared/domain/clock.ts';
import type { DurableWrites } from '../../../shared/runtime/durable-writes.ts';
import { replaceFile } from '../../../shared/runtime/files/replace-file.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { repeat } from '../../../shared/runtime/repeat.ts';
import { formatKeyFile } from '../../access/api-keys/api-key-record.ts';
import { readVersionedKeys } from '../../access/api-keys/api-key-store.ts';
import { type RedisConnection, redisReasonOf } from '../transport/redis/redis-connection.ts';
import { type FleetKeysPlace, isPlausible, keysChannel, mergeKeys, readFleetKeys } from './fleet-keys.ts';

export interface KeyMirrorOptions extends FleetKeysPlace {
  readonly redis: Pick<RedisConnection, 'run' | 'call' | 'subscribe' | 'isReady'>;
  /** The file that the keys of the fleet are copied to, where this gateway reads its keys. */
  readonly keysPath: string;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly writes: Pick<DurableWrites, 'keep'>;
}

/** The interval of checks for changes whose message was lost, in milliseconds. */
const CHECK_MS = 5000;
const FORGED = 'nobody with the secret of this fleet has written them; slotgate keys restore seals its own again';

/** Keeps a file equal to the keys of a fleet. Without Redis the keys of the file stay in use. */
export class KeyMirror {
  readonly #options: KeyMirrorOptions;
  readonly #stopChecking: () => void;
  readonly #unsubscribe: () => void;
  #version: number;
  /** What only the change that was copied last has: after a failover another may have its version. */
  #tag: string | null | undefined;
  #isOlder = false;
  #forged = 0;
  #copyProblem: string | undefined;
  #refreshing = Promise.resolve();

  constructor(options: KeyMirrorOptions) {
    this.#options = options;
    this.#version = readVersionedKeys(options.keysPath).version;
    this.#unsubscribe = options.redis.subscribe(keysChannel(options.prefix), () => void this.refresh());
    this.#stopChecking = repeat(options.clock, CHECK_MS, () => this.refresh(), 0);
  }

  /** What operators should know; undefined if all is well. */
  get problem(): string | undefined {
    if (this.#copyProblem !== undefined) return this.#copyProblem;
    if (this.#forged > 0) return `${this.#forged} API keys at Redis are not applied: ${FORGED}`;
    if (!this.#isOlder) return undefined;
    return 'Redis has lost API keys, which are valid here: slotgate keys restore gives them back';
  }

  /** Copies a change, after the refresh that is under way. */
  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.then(() => this.#refresh());
    return this.#refreshing;
  }

  close(): void {
    this.#stopChecking();
    this.#unsubscribe();
  }

  async #refresh(): Promise<void> {
    const { redis, log } = this.#options;
    if (!redis.isReady) return; // the keys of the file stay in use
    try {
      await this.#copy();
      this.#copyProblem = undefined;
    } catch (thrown) {
      const reason = redisReasonOf(thrown);
      const problem = `the API keys of the fleet can't be copied, so those revoked since are valid here: ${reason}`;
      if (problem !== this.#copyProblem) log.warn({}, problem);
      this.#copyProblem = problem;
    }
  }

  async #copy(): Promise<void> {
    const { redis, prefix, keysPath: path, writes, log } = this.#options;
    const [text, tag] = (await redis.call('MGET', `${prefix}keys:version`, `${prefix}keys:tag`)) as (string | null)[];
    const version = Number(text);
    const wasOlder = this.#isOlder;
    this.#isOlder = version < this.#version;
    if (this.#isOlder && !wasOlder)
      log.error({}, 'Redis has older API keys than this gateway, which keeps its own: slotgate keys restore');
    if (this.#isOlder || version === 0 || (version === this.#version && tag === this.#tag)) return;
    const found = await readFleetKeys(this.#options);
    if (!isPlausible(found.version, this.#version))
      throw new Error('their version is impossible; slotgate keys restore mends it');
    const records = found.forged.length;
    if (records > 0 && records !== this.#forged) log.error({ records }, `API keys at Redis are not applied: ${FORGED}`);
    this.#forged = records;
    // A record that is not applied leaves the key as it was, and an earlier record brings no revoked key back.
    const kept = readVersionedKeys(path).keys.filter(
      ({ id, revokedAt }) => revokedAt !== null || found.forged.includes(id),
    );
    writes.keep('the API keys of the fleet', () => {
      replaceFile(path, formatKeyFile(mergeKeys([kept, found.keys]), found.version));
      this.#version = found.version;
      this.#tag = tag;
    });
  }
}

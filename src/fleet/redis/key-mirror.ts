import { readVersionedKeys, writeFleetKeys } from '../../access/api-keys/api-key-store.ts';
import type { Clock } from '../../domain/clock.ts';
import { repeat } from '../../runtime/repeat.ts';
import { keysChannel, mergeKeys, readFleetKeys, readKeysVersion } from './fleet-keys.ts';
import type { FleetSecret } from './fleet-secret.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface KeyMirrorOptions {
  readonly redis: Pick<RedisConnection, 'run' | 'call' | 'subscribe' | 'isReady'>;
  readonly prefix: string;
  readonly secret: FleetSecret;
  /** The file that the keys of the fleet are copied to, which this gateway takes its keys from. */
  readonly path: string;
  readonly clock: Clock;
  /** Called when Redis has older keys than the file, which stay in use; once as long as it has. */
  readonly onOlder: () => void;
  /** Called with the number of records that nobody with the secret of the fleet has sealed, when it has changed. */
  readonly onForged: (count: number) => void;
  /** Called when the keys can't be copied, with another reason than before. */
  readonly onProblem: (problem: string) => void;
}

/** The interval of looks for changes whose message was lost, in milliseconds. */
const LOOK_MS = 5000;

/** Keeps a file equal to the keys of a fleet. Without Redis the keys of the file stay in use. */
export class KeyMirror {
  readonly #options: KeyMirrorOptions;
  readonly #stopLooking: () => void;
  readonly #stopHearing: () => void;
  #version: number;
  #isOlder = false;
  #forged = 0;
  #lastProblem: string | undefined;
  #looking: Promise<void> | undefined;
  #mustLookAgain = false;

  constructor(options: KeyMirrorOptions) {
    this.#options = options;
    this.#version = readVersionedKeys(options.path).version;
    this.#stopHearing = options.redis.subscribe(keysChannel(options.prefix), () => void this.look());
    this.#stopLooking = repeat(options.clock, LOOK_MS, () => this.look(), 0);
  }

  /** Whether Redis has lost keys: it has older ones than this gateway. */
  get isOlder(): boolean {
    return this.#isOlder;
  }

  /** The number of records at Redis that are not applied: nobody with the secret of the fleet has sealed them. */
  get forged(): number {
    return this.#forged;
  }

  /** Looks for a change, after the look that is under way. */
  look(): Promise<void> {
    if (this.#looking !== undefined) this.#mustLookAgain = true;
    this.#looking ??= this.#lookUntilCurrent().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  close(): void {
    this.#stopLooking();
    this.#stopHearing();
  }

  async #lookUntilCurrent(): Promise<void> {
    do {
      this.#mustLookAgain = false;
      if (!this.#options.redis.isReady) return; // the keys of the file stay in use
      await this.#copy().then(
        () => {
          this.#lastProblem = undefined;
        },
        (thrown: unknown) => this.#tell(thrown instanceof Error ? thrown.message : String(thrown)),
      );
    } while (this.#mustLookAgain);
  }

  async #copy(): Promise<void> {
    const { path, onOlder, onForged } = this.#options;
    const version = await readKeysVersion(this.#options);
    const wasOlder = this.#isOlder;
    this.#isOlder = version < this.#version;
    if (this.#isOlder && !wasOlder) onOlder();
    if (version <= this.#version) return;
    const found = await readFleetKeys(this.#options);
    if (found.forged.length > 0 && found.forged.length !== this.#forged) onForged(found.forged.length);
    this.#forged = found.forged.length;
    // A record that is not applied leaves the key as it was, and an earlier record brings no revoked key back.
    const kept = readVersionedKeys(path).keys.filter(
      ({ id, revokedAt }) => revokedAt !== null || found.forged.includes(id),
    );
    writeFleetKeys(path, { version: found.version, keys: mergeKeys([kept, found.keys]) });
    this.#version = found.version;
  }

  #tell(problem: string): void {
    if (problem !== this.#lastProblem) this.#options.onProblem(problem);
    this.#lastProblem = problem;
  }
}

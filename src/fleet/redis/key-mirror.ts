import { readVersionedKeys, writeFleetKeys } from '../../access/api-keys/api-key-store.ts';
import type { Clock } from '../../domain/clock.ts';
import { repeat } from '../../runtime/repeat.ts';
import { keysChannel, readFleetKeys, readKeysVersion } from './fleet-keys.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface KeyMirrorOptions {
  readonly redis: Pick<RedisConnection, 'run' | 'call' | 'subscribe' | 'isReady'>;
  readonly prefix: string;
  /** The file that the keys of the fleet are copied to, which this gateway takes its keys from. */
  readonly path: string;
  readonly clock: Clock;
  /** Called when Redis has older keys than the file, which stay in use; once as long as it has. */
  readonly onOlder: () => void;
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
    const { path, onOlder } = this.#options;
    const version = await readKeysVersion(this.#options);
    const wasOlder = this.#isOlder;
    this.#isOlder = version < this.#version;
    if (this.#isOlder && !wasOlder) onOlder();
    if (version <= this.#version) return;
    const found = await readFleetKeys(this.#options);
    writeFleetKeys(path, found);
    this.#version = found.version;
  }

  #tell(problem: string): void {
    if (problem !== this.#lastProblem) this.#options.onProblem(problem);
    this.#lastProblem = problem;
  }
}

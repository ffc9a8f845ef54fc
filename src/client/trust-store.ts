import { API_PREFIX } from '../shared/domain/canonical-request.ts';
import type { Clock } from '../shared/domain/clock.ts';
import { tryOrUndefined } from '../shared/domain/try-or-undefined.ts';
import { readOnce } from '../shared/runtime/read-once.ts';
import type { GatewayResponse, RequestOptions, SendRequest } from './send-request.ts';
import { SlotgateError } from './slotgate-error.ts';
import { isSuccession, parseSuccession } from './verify/succession.ts';
import { parseTrustedKey, type TrustedKey } from './verify/trusted-key.ts';

/** The trusted keys and the cluster that they sign for. */
export interface TrustAnchors {
  readonly publicKeys: readonly string[];
  readonly cluster: string;
}

export interface TrustStoreOptions {
  readonly send: SendRequest;
  readonly clock: Clock;
  /** The pinned keys; without any, the gateway's key is trusted on first use. */
  readonly publicKeys: readonly string[];
  readonly cluster: string | undefined;
}

/** The longest chain of successions from a trusted key to a new one. */
const MAX_SUCCESSIONS = 8;
const MAX_CLOCK_SKEW_MS = 5000;

/** For this time a key that no trusted key vouches for is not requested again: each answer and frame may be signed by it. */
const REFUSAL_MS = 30_000;
/** The most refused keys that are remembered: a gateway may name any number of them. */
const MAX_REFUSED = 100;

/** What is not pinned is learned on first use. Later a new key needs a succession that a trusted key has signed. */
export class TrustStore {
  readonly #options: TrustStoreOptions;
  readonly #successors: string[] = [];
  /** Until when each refused key is not requested again, by its id. */
  readonly #refusedUntilMs = new Map<string, number>();
  #initialAnchors: TrustAnchors | undefined;
  /** What all reads without bounds of their own wait for. */
  readonly #learnOnce = readOnce(() => this.#learnInitialAnchors({}));

  constructor(options: TrustStoreOptions) {
    this.#options = options;
  }

  /** Returns the trusted keys and the cluster. Rejects with SlotgateError if they can't be learned; the next call tries again. */
  async anchors(bounds: RequestOptions = {}): Promise<TrustAnchors> {
    if (this.#initialAnchors === undefined) {
      const learned = await this.#learn(bounds);
      this.#initialAnchors ??= learned;
    }
    const { publicKeys, cluster } = this.#initialAnchors;
    return { publicKeys: [...publicKeys, ...this.#successors], cluster };
  }

  /** Tries to trust the key with this id. Resolves with undefined if no trusted key vouches for it. */
  async trustSuccessor(kid: string, bounds: RequestOptions = {}): Promise<TrustedKey | undefined> {
    const nowMs = this.#options.clock.monotonic();
    const isRefused = (): boolean => nowMs < (this.#refusedUntilMs.get(kid) ?? Number.NEGATIVE_INFINITY);
    if (isRefused()) return undefined;
    const key = await this.#findSuccessor(kid, bounds, MAX_SUCCESSIONS);
    if (key === undefined && !isRefused()) this.#refuse(kid, nowMs + REFUSAL_MS);
    return key;
  }

  async #findSuccessor(
    kid: string,
    bounds: RequestOptions,
    remainingSuccessions: number,
  ): Promise<TrustedKey | undefined> {
    const { publicKeys } = await this.anchors(bounds);
    const trusted = publicKeys.map(parseTrustedKey).find((key) => key.kid === kid);
    if (trusted !== undefined || remainingSuccessions === 0) return trusted;
    const response = await this.#options
      .send({ target: `${PUBKEY_TARGET}?kid=${kid}` }, bounds)
      .catch(undefinedIfUnknownKey);
    const succession = parseSuccession(response?.headers.get('x-key-succession') ?? '');
    if (response === undefined || succession === undefined) return undefined;
    const key = publicKeyOf(response);
    if (key.kid !== kid) return undefined;
    const { clock } = this.#options;
    const earlyMs = succession.notBeforeMs - MAX_CLOCK_SKEW_MS - clock.now();
    if (earlyMs > 0) {
      this.#refuse(kid, clock.monotonic() + Math.min(earlyMs, REFUSAL_MS)); // by this clock it does not sign yet
      return undefined;
    }
    const predecessor = await this.#findSuccessor(succession.kid, bounds, remainingSuccessions - 1);
    if (predecessor === undefined || !predecessor.isStrong() || !key.isStrong()) return undefined;
    if (!isSuccession(succession.sig, predecessor.base58, key.base58, succession.notBeforeMs)) return undefined;
    if (!this.#successors.includes(key.base58)) this.#successors.push(key.base58);
    return key;
  }

  #refuse(kid: string, untilMs: number): void {
    if (this.#refusedUntilMs.size >= MAX_REFUSED) this.#refusedUntilMs.clear();
    this.#refusedUntilMs.set(kid, untilMs);
  }

  #learn(bounds: RequestOptions): Promise<TrustAnchors> {
    const { signal, timeoutMs, attempts } = bounds;
    return (signal ?? timeoutMs ?? attempts) === undefined ? this.#learnOnce() : this.#learnInitialAnchors(bounds);
  }

  async #learnInitialAnchors(bounds: RequestOptions): Promise<TrustAnchors> {
    const { send, publicKeys, cluster } = this.#options;
    const [keys, genesis] = await Promise.all([
      publicKeys.length > 0
        ? publicKeys
        : send({ target: PUBKEY_TARGET }, bounds).then((response) => [publicKeyOf(response).base58]),
      cluster ??
        send({ target: HEALTH_TARGET }, bounds).then(
          (response) => textMember(response, 'result', 'cluster'),
          clusterOfUnhealthy,
        ),
    ]);
    return { publicKeys: keys, cluster: genesis };
  }
}

const PUBKEY_TARGET = `${API_PREFIX}/pubkey`;
const HEALTH_TARGET = `${API_PREFIX}/health`;

/** Returns undefined for a key that the gateway doesn't know or has revoked; throws any other error. */
function undefinedIfUnknownKey(thrown: unknown): undefined {
  if (thrown instanceof SlotgateError && (thrown.code === 'unknown_key' || thrown.code === 'key_revoked')) return;
  throw thrown;
}

/** Returns the cluster that a gateway names which is not healthy; throws any other error. */
function clusterOfUnhealthy(thrown: unknown): string {
  if (thrown instanceof SlotgateError && thrown.code === 'unhealthy' && thrown.cluster !== null) return thrown.cluster;
  throw thrown;
}

function publicKeyOf(response: GatewayResponse): TrustedKey {
  try {
    return parseTrustedKey(textMember(response, 'publicKey'));
  } catch (cause) {
    throw new SlotgateError('unreadable', 'the public key of the gateway is malformed', {
      status: response.status,
      cause,
    });
  }
}

function textMember({ body, status }: GatewayResponse, ...path: readonly string[]): string {
  let value: unknown = tryOrUndefined(() => JSON.parse(new TextDecoder().decode(body)));
  for (const name of path) value = Object(value)[name];
  if (typeof value === 'string') return value;
  throw new SlotgateError('unreadable', `the answer of the gateway lacks its ${path.at(-1)}`, { status });
}

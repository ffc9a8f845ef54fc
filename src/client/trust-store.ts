import { API_PREFIX } from '../domain/canonical-request.ts';
import type { Clock } from '../domain/clock.ts';
import { isSuccession, parseSuccession } from '../receipts/keys/succession.ts';
import { parseTrustedKey, type TrustedKey } from '../receipts/verify/trusted-key.ts';
import type { GatewayResponse, SendRequest } from './send-request.ts';
import { SlotgateError } from './slotgate-error.ts';

/** Whose word counts, and about which cluster. */
export interface TrustAnchors {
  /** Base58. */
  readonly publicKeys: readonly string[];
  /** Genesis hash, base58. */
  readonly cluster: string;
}

export interface TrustStoreOptions {
  readonly send: SendRequest;
  readonly clock: Clock;
  /** Keys that are known to begin with; none: the gateway's word is taken once. */
  readonly publicKeys: readonly string[];
  readonly cluster: string | undefined;
}

/** More successions in a row than this are not followed. */
const MAX_SUCCESSIONS = 8;

const MAX_CLOCK_SKEW_MS = 5000;

/**
 * The keys and the cluster that receipts are held to. What was not pinned is learned on first use and kept; from then
 * on a new key is believed only on the signed word of one that is trusted already.
 */
export class TrustStore {
  readonly #options: TrustStoreOptions;
  readonly #successors: string[] = [];
  #initialAnchors: Promise<TrustAnchors> | undefined;

  constructor(options: TrustStoreOptions) {
    this.#options = options;
  }

  async anchors(): Promise<TrustAnchors> {
    this.#initialAnchors ??= this.#learnInitialAnchors();
    try {
      const { publicKeys, cluster } = await this.#initialAnchors;
      return { publicKeys: [...publicKeys, ...this.#successors], cluster };
    } catch (thrown) {
      this.#initialAnchors = undefined; // the next one may have more luck
      throw thrown;
    }
  }

  /** Tries to come to trust the key of an id. Undefined when nobody who is trusted vouches for it. */
  async trustSuccessor(kid: string, remainingSuccessions = MAX_SUCCESSIONS): Promise<TrustedKey | undefined> {
    const { publicKeys } = await this.anchors();
    const trusted = publicKeys.map(parseTrustedKey).find((key) => key.kid === kid);
    if (trusted !== undefined || remainingSuccessions === 0) return trusted;
    const response = await this.#options
      .send({ target: `${PUBKEY_TARGET}?kid=${kid}` }, {})
      .catch(undefinedIfUnknownKey);
    const succession = parseSuccession(response?.headers.get('x-key-succession') ?? '');
    if (response === undefined || succession === undefined) return undefined;
    const key = publicKeyOf(response);
    if (key.kid !== kid || succession.notBeforeMs > this.#options.clock.now() + MAX_CLOCK_SKEW_MS) return undefined;
    const predecessor = await this.trustSuccessor(succession.kid, remainingSuccessions - 1);
    if (predecessor === undefined || !predecessor.isStrong() || !key.isStrong()) return undefined;
    if (!isSuccession(succession.sig, predecessor.base58, key.base58, succession.notBeforeMs)) return undefined;
    if (!this.#successors.includes(key.base58)) this.#successors.push(key.base58);
    return key;
  }

  async #learnInitialAnchors(): Promise<TrustAnchors> {
    const { send, publicKeys, cluster } = this.#options;
    const [keys, genesis] = await Promise.all([
      publicKeys.length > 0
        ? publicKeys
        : send({ target: PUBKEY_TARGET }, {}).then((reply) => [publicKeyOf(reply).base58]),
      cluster ?? send({ target: HEALTH_TARGET }, {}).then((reply) => textMember(reply, 'result', 'cluster')),
    ]);
    return { publicKeys: keys, cluster: genesis };
  }
}

const PUBKEY_TARGET = `${API_PREFIX}/pubkey`;
const HEALTH_TARGET = `${API_PREFIX}/health`;

/** A key that the gateway does not know, or has revoked, is no reason to trust. */
function undefinedIfUnknownKey(thrown: unknown): undefined {
  if (thrown instanceof SlotgateError && (thrown.code === 'unknown_key' || thrown.code === 'key_revoked')) return;
  throw thrown;
}

function publicKeyOf(response: GatewayResponse): TrustedKey {
  try {
    return parseTrustedKey(textMember(response, 'publicKey'));
  } catch (cause) {
    throw new SlotgateError('unreadable', 'what the gateway calls its key is none', { status: response.status, cause });
  }
}

/** The text at a path of members. */
function textMember({ body, status }: GatewayResponse, ...path: readonly string[]): string {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body));
    for (const name of path) value = Object(value)[name];
  } catch {
    value = undefined;
  }
  if (typeof value === 'string') return value;
  throw new SlotgateError('unreadable', `the gateway does not say its ${path.at(-1)}`, { status });
}

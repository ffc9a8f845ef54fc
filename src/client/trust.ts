import { API_PREFIX } from '../domain/canonical-request.ts';
import type { Clock } from '../domain/clock.ts';
import { isSuccession, parseSuccession } from '../receipts/keys/succession.ts';
import { parseTrustedKey, type TrustedKey } from '../receipts/verify/trusted-key.ts';
import type { Reply, Send } from './send.ts';
import { SlotgateError } from './slotgate-error.ts';

/** Whose word counts, and about which cluster. */
export interface Known {
  /** Base58. */
  readonly publicKeys: readonly string[];
  /** Genesis hash, base58. */
  readonly cluster: string;
}

export interface TrustOptions {
  readonly send: Send;
  readonly clock: Clock;
  /** Keys that are known to begin with; none: the gateway's word is taken once. */
  readonly publicKeys: readonly string[];
  readonly cluster: string | undefined;
}

/** More successions in a row than this are not followed. */
const MAX_STEPS = 8;

const SKEW_MS = 5000;

/**
 * The keys and the cluster that receipts are held to. What was not pinned is learned on first use and kept; from then
 * on a new key is believed only on the signed word of one that is trusted already.
 */
export class Trust {
  readonly #options: TrustOptions;
  readonly #heirs: string[] = [];
  #first: Promise<Known> | undefined;

  constructor(options: TrustOptions) {
    this.#options = options;
  }

  async known(): Promise<Known> {
    this.#first ??= this.#learn();
    try {
      const { publicKeys, cluster } = await this.#first;
      return { publicKeys: [...publicKeys, ...this.#heirs], cluster };
    } catch (thrown) {
      this.#first = undefined; // the next one may have more luck
      throw thrown;
    }
  }

  /** Tries to come to trust the key of an id. Undefined when nobody who is trusted vouches for it. */
  async follow(kid: string, steps = MAX_STEPS): Promise<TrustedKey | undefined> {
    const { publicKeys } = await this.known();
    const trusted = publicKeys.map(parseTrustedKey).find((key) => key.kid === kid);
    if (trusted !== undefined || steps === 0) return trusted;
    const reply = await this.#options.send({ target: `${PUBKEY}?kid=${kid}` }, {}).catch(ifUnknown);
    const word = parseSuccession(reply?.headers.get('x-key-succession') ?? '');
    if (reply === undefined || word === undefined) return undefined;
    const key = keyIn(reply);
    if (key.kid !== kid || word.notBeforeMs > this.#options.clock.now() + SKEW_MS) return undefined;
    const old = await this.follow(word.kid, steps - 1);
    if (old === undefined || !old.isStrong() || !key.isStrong()) return undefined;
    if (!isSuccession(word.sig, old.base58, key.base58, word.notBeforeMs)) return undefined;
    if (!this.#heirs.includes(key.base58)) this.#heirs.push(key.base58);
    return key;
  }

  async #learn(): Promise<Known> {
    const { send, publicKeys, cluster } = this.#options;
    const [keys, genesis] = await Promise.all([
      publicKeys.length > 0 ? publicKeys : send({ target: PUBKEY }, {}).then((reply) => [keyIn(reply).base58]),
      cluster ?? send({ target: HEALTH }, {}).then((reply) => textIn(reply, 'result', 'cluster')),
    ]);
    return { publicKeys: keys, cluster: genesis };
  }
}

const PUBKEY = `${API_PREFIX}/pubkey`;
const HEALTH = `${API_PREFIX}/health`;

/** A key that the gateway does not know, or has revoked, is no reason to trust. */
function ifUnknown(thrown: unknown): undefined {
  if (thrown instanceof SlotgateError && (thrown.code === 'unknown_key' || thrown.code === 'key_revoked')) return;
  throw thrown;
}

function keyIn(reply: Reply): TrustedKey {
  try {
    return parseTrustedKey(textIn(reply, 'publicKey'));
  } catch (cause) {
    throw new SlotgateError('unreadable', 'what the gateway calls its key is none', { status: reply.status, cause });
  }
}

/** The text at a path of members. */
function textIn({ body, status }: Reply, ...path: readonly string[]): string {
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

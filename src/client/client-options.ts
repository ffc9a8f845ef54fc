import type { Clock } from '../shared/domain/clock.ts';
import type { OpenSocket } from './socket.ts';

export interface ClientOptions {
  /** The gateway's URL, with the prefix that a proxy may have put before `/api/v1`. */
  readonly url: string | URL;
  /**
   * The public key, or keys, that receipts must be signed with, base58. Without it the client trusts the key that
   * `/pubkey` names on first use; an attacker who forges that answer can forge all others. An empty list is refused.
   */
  readonly publicKey?: string | readonly string[];
  /** The genesis hash of the expected cluster, base58. Without it, the one that `/health` names on first use. */
  readonly cluster?: string;
  /**
   * Headers that are sent with every request, such as `x-api-key`. The stream sends them with `openSocket`; without it
   * only `x-api-key`, as a subprotocol.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** False accepts every answer without verification. */
  readonly verify?: boolean;
  /** The maximum age of a receipt, unless its result is final, in milliseconds; 60,000 by default. */
  readonly maxAgeMs?: number;
  /**
   * The fewest operators that must have given the result of a receipt; 1 by default. A gateway over one operator has no answer
   * for more.
   */
  readonly minAgreed?: number;
  /** The timeout of each attempt of a request, in milliseconds; 10,000 by default. */
  readonly timeoutMs?: number;
  /** The number of attempts of a request, the first included; 4 by default. */
  readonly attempts?: number;
  /** The longest response body that is read, in bytes; 32 MiB by default. */
  readonly maxBodyBytes?: number;
  readonly fetch?: typeof fetch;
  /**
   * Opens a WebSocket: needed in Node 20, which has none, and to send other headers than `x-api-key` on the stream:
   * `(url, headers) => new WebSocket(url, { headers })`.
   */
  readonly openSocket?: OpenSocket;
  readonly clock?: Clock;
  /** Returns a number from 0 to 1, for the jitter of retries. Nonces do not use it. */
  readonly random?: () => number;
}

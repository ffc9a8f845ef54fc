import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { backoffMs } from '../failsafe/jittered-backoff.ts';
import { OrderedSession, type SessionOptions } from './ordered-session.ts';
import type { PubsubSession } from './pubsub-session.ts';

/** Opens sessions with one node, and pauses after lost ones. */
export class NodeSessions {
  readonly #options: SessionOptions;
  readonly #sessions = new Set<PubsubSession>();
  /** The losses in a row, and the end of the pause after them, which grows with each. */
  #losses = 0;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #closings = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Milliseconds until the next session may be opened; 0 if now. */
  get cooldownMs(): number {
    return Math.max(0, this.#pausedUntilMs - this.#options.deps.clock.monotonic());
  }

  async open(): Promise<PubsubSession> {
    const closings = this.#closings;
    const opening = open(this.#options);
    opening.catch(() => this.#pause());
    const session = await opening;
    this.#sessions.add(session);
    session.onLost(() => {
      this.#sessions.delete(session);
      this.#pause();
    });
    if (closings !== this.#closings) session.close();
    return session;
  }

  /** Closes all sessions, those too that are being opened, so that others are opened with other nodes. */
  closeAll(): void {
    this.#closings++;
    for (const session of this.#sessions) session.close();
  }

  /** Starts the pause after a loss. Losses during a pause count as one. */
  #pause(): void {
    if (this.cooldownMs > 0) return;
    const { deps } = this.#options;
    const nowMs = deps.clock.monotonic();
    const isInRow = nowMs - this.#pausedUntilMs < deps.settings.backoffMaxMs;
    this.#losses = isInRow ? this.#losses + 1 : 1;
    this.#pausedUntilMs = nowMs + backoffMs(this.#losses, deps);
  }
}

/** Opens a session with a node; resolves when it sends Clock updates. Throws `upstream_unavailable`. */
const open = (options: SessionOptions): Promise<PubsubSession> =>
  new Promise((resolve, reject) => {
    const session = new OrderedSession(options, () => resolve(session));
    session.onLost((reason) => {
      const cause = `${options.node.id}: ${reason}`;
      reject(new GatewayError('upstream_unavailable', 'no node can be reached', { cause }));
    });
  });

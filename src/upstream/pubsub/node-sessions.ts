import { Cooldown } from '../failsafe/cooldown.ts';
import { openSession } from './open-session.ts';
import type { SessionOptions } from './ordered-session.ts';
import type { PubsubSession } from './pubsub-session.ts';

/** Opens sessions with one node, and pauses after lost ones. */
export class NodeSessions {
  readonly #options: SessionOptions;
  readonly #sessions = new Set<PubsubSession>();
  readonly #cooldown: Cooldown;
  #isClosed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#cooldown = new Cooldown(options.deps);
  }

  /** Milliseconds until the next session may be opened; 0 if now. */
  get cooldownMs(): number {
    return this.#cooldown.remainingMs;
  }

  async open(): Promise<PubsubSession> {
    const opening = openSession(this.#options);
    opening.catch(() => this.#cooldown.start());
    const session = await opening;
    this.#sessions.add(session);
    session.onLost(() => {
      this.#sessions.delete(session);
      this.#cooldown.start();
    });
    if (this.#isClosed) session.close();
    return session;
  }

  /** Closes all sessions, so that others are opened with other nodes. */
  closeAll(): void {
    for (const session of this.#sessions) session.close();
  }

  close(): void {
    this.#isClosed = true;
    this.closeAll();
  }
}

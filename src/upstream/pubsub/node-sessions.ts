import { Cooldown } from '../failsafe/cooldown.ts';
import { openSession, type SessionOptions } from './open-session.ts';
import type { PubsubSession } from './pubsub-session.ts';

/** The lines that one node has been given. Those that it drops are not opened again at once. */
export class NodeSessions {
  readonly #options: SessionOptions;
  readonly #open = new Set<PubsubSession>();
  readonly #cooldown: Cooldown;
  #isClosed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#cooldown = new Cooldown(options.deps);
  }

  /** For how many milliseconds yet none is to be opened. */
  get cooldownMs(): number {
    return this.#cooldown.remainingMs;
  }

  async open(): Promise<PubsubSession> {
    const opening = openSession(this.#options);
    opening.catch(() => this.#cooldown.start());
    const session = await opening;
    this.#open.add(session);
    session.onLost(() => {
      this.#open.delete(session);
      this.#cooldown.start();
    });
    if (this.#isClosed) session.close();
    return session;
  }

  /** Gives them up while the node is out, so that others are opened elsewhere. */
  closeAll(): void {
    for (const session of this.#open) session.close();
  }

  close(): void {
    this.#isClosed = true;
    this.closeAll();
  }
}

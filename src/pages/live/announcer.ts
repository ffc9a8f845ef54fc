import { type LiveState, STATE_WORDS } from './state.ts';

const PAUSE_MS = 5000;

/** Decides which changes of state a screen reader announces. The first one is the first state that is not `connecting`. */
export class Announcer {
  #announced: LiveState = 'connecting';
  #announcedMs = Number.NEGATIVE_INFINITY;

  /** Returns the text to announce; undefined for none, because nothing has changed or it is too early. */
  next(state: LiveState, nowMs: number): string | undefined {
    if (state === this.#announced || nowMs - this.#announcedMs < PAUSE_MS) return undefined;
    this.#announced = state;
    this.#announcedMs = nowMs;
    return `Network status: ${STATE_WORDS[state]}`;
  }
}

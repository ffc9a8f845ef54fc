/** The most short bodies between two that are checked. */
const MAX_UNCHECKED = 15;

/** The answers without a body of which one is counted, for all of them. */
export const BODILESS_PER_COUNT = 8;

/** The answers without a body, of a caller that may be owed too much of them, behind one of which its connection is closed. */
const BODILESS_PER_CLOSE = 1024;

/**
 * Chooses the answers of which it is checked whether their readers accept them. To check a body costs a tenth of a hit, and
 * of an answer without a body nothing can be checked. So some are chosen at random, which no reader can foresee.
 *
 * - Short bodies: 0 to 15 unchecked ones lie between two checked ones, each number as likely as the others; one body in 8.5
 *   is checked. The engine keeps at most 15 bodies of 16 KiB, 240 KiB, of a reader that alone makes requests. Of a reader
 *   among many, each body is unchecked with a probability of 0.88: more than 111 of its bodies, 1.7 MiB, are unseen once
 *   in a million times. From the first one that is seen on, all bodies are checked.
 * - Answers without a body, of about 800 bytes: one in 8 counts for 8. While a caller may be owed too much of them, one in
 *   1024 closes its connection: in the mean that is after 800 KiB, about what the kernel keeps. More than 14,200 of them,
 *   11 MiB, stay on a connection once in a million times. A caller that reads loses a connection now and then.
 */
export class ReaderSampling {
  readonly #random: () => number;
  #untilCheck = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  checksBody(): boolean {
    if (this.#untilCheck-- > 0) return false;
    this.#untilCheck = Math.floor(this.#random() * (MAX_UNCHECKED + 1));
    return true;
  }

  /** Returns true for an answer without a body that counts for {@link BODILESS_PER_COUNT}. */
  countsBodiless(): boolean {
    return this.#random() * BODILESS_PER_COUNT < 1;
  }

  closesBehindBodiless(): boolean {
    return this.#random() * BODILESS_PER_CLOSE < BODILESS_PER_COUNT;
  }
}

import { Rest } from '../failsafe/rest.ts';
import { type LineOptions, openLine } from './line.ts';
import type { Line } from './ordered-line.ts';

/** The lines that one node has been given. Those that it drops are not opened again at once. */
export class NodeLines {
  readonly #options: LineOptions;
  readonly #open = new Set<Line>();
  readonly #rest: Rest;
  #closed = false;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#rest = new Rest(options.surroundings);
  }

  /** For how many milliseconds yet none is to be opened. */
  get restMs(): number {
    return this.#rest.leftMs;
  }

  async open(): Promise<Line> {
    const opening = openLine(this.#options);
    opening.catch(() => this.#rest.begin());
    const line = await opening;
    this.#open.add(line);
    line.onLost(() => {
      this.#open.delete(line);
      this.#rest.begin();
    });
    if (this.#closed) line.close();
    return line;
  }

  /** Gives them up while the node is out, so that others are opened elsewhere. */
  drop(): void {
    for (const line of this.#open) line.close();
  }

  close(): void {
    this.#closed = true;
    this.drop();
  }
}

import type { Test } from 'tap';

/** What came of each method of a client, for a table in the report of a test. */
export class OutcomeTable {
  readonly #client: string;
  readonly #outcomes = new Map<string, string>();

  constructor(client: string) {
    this.#client = client;
  }

  works(method: string): void {
    this.#outcomes.set(method, 'works');
  }

  refused(method: string, thrown: unknown): void {
    this.#outcomes.set(method, `refused: ${thrown instanceof Error ? thrown.message.replaceAll('\n', ' ') : thrown}`);
  }

  /** Returns those of the methods that have no outcome. */
  missing(methods: readonly string[]): readonly string[] {
    return methods.filter((method) => !this.#outcomes.has(method));
  }

  /** Writes the table as comments: those that work in one row, as their outcome is the same as of the node. */
  print(t: Pick<Test, 'comment'>): void {
    const working = [...this.#outcomes].filter(([, outcome]) => outcome === 'works').map(([method]) => method);
    t.comment(`| ${this.#client} | ${working.length} of ${this.#outcomes.size} work: ${working.sort().join(', ')} |`);
    for (const [method, outcome] of [...this.#outcomes].sort())
      if (outcome !== 'works') t.comment(`| ${method} | ${outcome} |`);
  }
}

/** Remembers that a node's genesis hash was verified, until the node has been out of touch: another may answer then. */
export class GenesisCheck {
  readonly #verify: () => Promise<string>;
  #current: Promise<string> | undefined;

  /** `verify` reads the genesis hash and rejects where it is wrong. */
  constructor(verify: () => Promise<string>) {
    this.#verify = verify;
  }

  ensure(): Promise<string> {
    if (this.#current !== undefined) return this.#current;
    const check = this.#verify();
    this.#current = check;
    check.catch(() => {
      if (this.#current === check) this.#current = undefined;
    });
    return check;
  }

  repeat(): Promise<string> {
    this.invalidate();
    return this.ensure();
  }

  invalidate(): void {
    this.#current = undefined;
  }
}

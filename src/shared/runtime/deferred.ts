/** A promise that is resolved from outside. */
export class Deferred {
  resolve = (): void => {};
  readonly promise = new Promise<void>((resolve) => {
    this.resolve = resolve;
  });
}

/** A promise that is settled from outside. */
export class Deferred {
  resolve = (): void => {};
  reject: (reason: unknown) => void = () => {};
  readonly promise = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}

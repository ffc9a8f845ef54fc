/** A promise that is settled from outside. */
export class Deferred {
  resolve = (): void => {};
  reject = (_reason: unknown): void => {};
  readonly promise = new Promise<void>((resolve, reject) => {
    Object.assign(this, { resolve, reject });
  });
}

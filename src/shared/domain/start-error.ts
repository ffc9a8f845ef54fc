/** An error that keeps the process from starting. It is printed as one line, without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly exitCode: 1 | 64 | 78;

  constructor(exitCode: 1 | 64 | 78, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

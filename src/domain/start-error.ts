/** A fault that keeps the process from starting. It is printed as one line, without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
  /** What the process exits with: 64 for a wrong command line, 78 for a wrong configuration, 1 for the rest. */
  readonly exitCode: 1 | 64 | 78;

  constructor(exitCode: 1 | 64 | 78, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

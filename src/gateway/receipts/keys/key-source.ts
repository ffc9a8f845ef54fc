export interface KeySource {
  /** Path of a key: `RECEIPT_KEY_FILE`. */
  readonly file?: string | undefined;
  /** The key itself, or the word `ephemeral` for one that ends with the process: `RECEIPT_KEY`. */
  readonly inline?: string | undefined;
  readonly stateDir: string;
  /** Whether the key must exist: in production none is created. */
  readonly production: boolean;
}

/** Reads the source from the environment and deletes the variable that contains the key. */
export function extractKeySource(env: Record<string, string | undefined>): Omit<KeySource, 'stateDir'> {
  const { RECEIPT_KEY: inline, RECEIPT_KEY_FILE: file, NODE_ENV } = env;
  delete env['RECEIPT_KEY']; // no code in this process needs it later
  return { ...(inline && { inline }), ...(file && { file }), production: NODE_ENV === 'production' };
}

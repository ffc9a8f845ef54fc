/** Where the signing key may come from. At most one of `file` and `inline` may be named. */
export interface KeySource {
  /** `RECEIPT_KEY_FILE`: path of a key. */
  readonly file?: string | undefined;
  /** `RECEIPT_KEY`: the key itself, or the word `ephemeral` for one that is thrown away. */
  readonly inline?: string | undefined;
  /** The folder that holds the key when none is named. */
  readonly stateDir: string;
  /** In production a key is never made up: it has to be there. */
  readonly production: boolean;
}

/** What the environment says of the source; its variable with the key itself is gone after this. */
export function extractKeySource(env: NodeJS.ProcessEnv): Omit<KeySource, 'stateDir'> {
  const { RECEIPT_KEY: inline, RECEIPT_KEY_FILE: file, NODE_ENV } = env;
  delete env['RECEIPT_KEY']; // nothing that runs in this process later needs to see it
  return { ...(inline && { inline }), ...(file && { file }), production: NODE_ENV === 'production' };
}

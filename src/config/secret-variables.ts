import { readFileSync } from 'node:fs';
import { StartError } from '../domain/start-error.ts';

/** The variable with the key of Jupiter's API. */
const JUPITER_KEY = 'SLOTGATE_JUPITER_KEY';

/** Tells whether a variable holds a secret: it is no setting, and is never printed. */
export const isSecretVariable = (name: string): boolean => name === JUPITER_KEY;

/** The secrets that stand in variables. */
export interface Secrets {
  readonly jupiterKey?: string | undefined;
}

/** Takes the secrets out of the environment: no code in this process needs them there later. */
export function extractSecrets(env: NodeJS.ProcessEnv): Secrets {
  const { [JUPITER_KEY]: jupiterKey } = env;
  delete env[JUPITER_KEY];
  return jupiterKey ? { jupiterKey: checkedKey(jupiterKey, JUPITER_KEY) } : {};
}

/**
 * Returns the key of Jupiter's API: the one of the variable, else the one in the file, else undefined. Throws a StartError,
 * which never contains it.
 */
export function readJupiterKey({ jupiterKey }: Secrets, keyFile: string | null): string | undefined {
  if (jupiterKey !== undefined || keyFile === null) return jupiterKey;
  let text: string;
  try {
    text = readFileSync(keyFile, 'utf8');
  } catch (cause) {
    throw new StartError(78, `prices.jupiter.keyFile: can't read ${keyFile}`, cause);
  }
  return checkedKey(text, 'prices.jupiter.keyFile');
}

/** The longest key; it is sent in a header. */
const MAX_KEY_LENGTH = 1024;

function checkedKey(text: string, source: string): string {
  const key = text.trim();
  if (key.length <= MAX_KEY_LENGTH && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new StartError(78, `${source}: expected a key, one word of printable characters`);
}

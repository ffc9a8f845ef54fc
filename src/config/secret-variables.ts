import { readFileSync } from 'node:fs';
import { StartError } from '../shared/domain/start-error.ts';

const JUPITER_KEY = 'SLOTGATE_JUPITER_KEY';
const REDIS_PASSWORD = 'SLOTGATE_REDIS_PASSWORD';

/** The variable with the secret of a fleet. Default: it follows from the receipt key. */
const FLEET_SECRET = 'SLOTGATE_FLEET_SECRET';

/** The shortest secret of a fleet: it is no password that a person remembers. */
const MIN_FLEET_SECRET_LENGTH = 32;

/** Returns true if a variable holds a secret: it is no setting, and is never printed. */
export const isSecretVariable = (name: string): boolean => [JUPITER_KEY, REDIS_PASSWORD, FLEET_SECRET].includes(name);

/** The secrets that stand in variables. */
export interface Secrets {
  readonly jupiterKey?: string | undefined;
  readonly redisPassword?: string | undefined;
  readonly fleetSecret?: string | undefined;
}

/** Removes the secrets from the environment: no code in this process needs them there later. */
export function extractSecrets(env: Record<string, string | undefined>): Secrets {
  const { [JUPITER_KEY]: jupiterKey, [REDIS_PASSWORD]: redisPassword, [FLEET_SECRET]: fleetSecret } = env;
  delete env[JUPITER_KEY];
  delete env[REDIS_PASSWORD];
  delete env[FLEET_SECRET];
  return {
    ...(jupiterKey && { jupiterKey: checkedSecret(jupiterKey, JUPITER_KEY, 'a key') }),
    ...(redisPassword && { redisPassword: checkedSecret(redisPassword, REDIS_PASSWORD, 'a password') }),
    ...(fleetSecret && { fleetSecret: checkedFleetSecret(fleetSecret) }),
  };
}

/** From the variable, else from the file, else undefined. Throws a StartError, which never contains it. */
export function readJupiterKey({ jupiterKey }: Secrets, keyFile: string | null): string | undefined {
  if (jupiterKey !== undefined || keyFile === null) return jupiterKey;
  return readSecretFile(keyFile, 'prices.jupiter.keyFile', 'a key');
}

/** Returns the password of Redis, as {@link readJupiterKey} does the key. */
export function readRedisPassword({ redisPassword }: Secrets, passwordFile: string | null): string | undefined {
  if (redisPassword !== undefined || passwordFile === null) return redisPassword;
  return readSecretFile(passwordFile, 'redis.passwordFile', 'a password');
}

/** Returns the token of a Geyser feed; undefined without a file. Throws a StartError, which never contains it. */
export const readFeedToken = (tokenFile: string | undefined): string | undefined =>
  tokenFile === undefined ? undefined : readSecretFile(tokenFile, 'upstreams[].geyser.tokenFile', 'a token');

function readSecretFile(path: string, setting: string, what: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new StartError(78, `${setting}: can't read ${path}`, cause);
  }
  return checkedSecret(text, setting, what);
}

function checkedFleetSecret(text: string): string {
  const secret = checkedSecret(text, FLEET_SECRET, 'a secret');
  if (secret.length >= MIN_FLEET_SECRET_LENGTH) return secret;
  throw new StartError(78, `${FLEET_SECRET}: expected at least ${MIN_FLEET_SECRET_LENGTH} characters`);
}

/** The longest secret; a key is sent in a header. */
const MAX_SECRET_LENGTH = 1024;

function checkedSecret(text: string, source: string, what: string): string {
  const secret = text.trim();
  if (secret.length <= MAX_SECRET_LENGTH && /^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new StartError(78, `${source}: expected ${what}, one word of printable characters`);
}

import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { reasonOf } from '../../shared/domain/reason-of.ts';
import { StartError } from '../../shared/domain/start-error.ts';
import { tryOrUndefined } from '../../shared/domain/try-or-undefined.ts';
import { hasErrorCode } from '../../shared/runtime/files/error-code.ts';
import { replaceFile } from '../../shared/runtime/files/replace-file.ts';

/** The gateway that `slotgate use` has pinned. */
export interface PinnedGateway {
  readonly url: string;
  readonly publicKey: string;
  readonly cluster: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the file of this user that names the gateway; undefined for a user without a home.
 * https://specifications.freedesktop.org/basedir-spec
 */
export function pinnedGatewayPath({ XDG_CONFIG_HOME: folder }: Environment): string | undefined {
  return tryOrUndefined(() => join(folder || join(homedir(), '.config'), 'slotgate', 'gateway.json')); // the system may not know this user
}

/** Returns true where there is no such file, or no folder for it. */
const isMissing = (thrown: unknown): boolean => hasErrorCode(thrown, 'ENOENT') || hasErrorCode(thrown, 'ENOTDIR');

/** Returns the pinned gateway; undefined if there is none. Throws a StartError for a file that can't be used. */
export function readPinnedGateway(env: Environment): PinnedGateway | undefined {
  const path = pinnedGatewayPath(env);
  if (path === undefined) return undefined;
  try {
    const { url, publicKey, cluster } = JSON.parse(readFileSync(path, 'utf8'));
    if ([url, publicKey, cluster].every((member) => typeof member === 'string') && URL.canParse(url))
      return { url, publicKey, cluster };
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
  }
  throw new StartError(78, `${path} can't be used: slotgate use --forget removes it`);
}

/** Returns the path of the file. Throws a StartError if it can't be written. */
export function pinGateway(env: Environment, gateway: PinnedGateway): string {
  const path = pinnedGatewayPath(env);
  if (path === undefined) throw new StartError(1, `this user has no home folder: set XDG_CONFIG_HOME`);
  try {
    mkdirSync(dirname(path), { recursive: true });
    replaceFile(path, `${JSON.stringify(gateway, null, 2)}\n`);
    return path;
  } catch (thrown) {
    throw new StartError(1, `can't write ${path}: ${reasonOf(thrown)}`, thrown);
  }
}

/** Returns the path of the file that it removed; undefined if there was none. Throws a StartError if it can't be removed. */
export function forgetGateway(env: Environment): string | undefined {
  const path = pinnedGatewayPath(env);
  if (path === undefined) return undefined;
  try {
    rmSync(path);
    return path;
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw new StartError(1, `can't remove ${path}: ${reasonOf(thrown)}`, thrown);
  }
}

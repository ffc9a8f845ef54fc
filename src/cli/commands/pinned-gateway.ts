import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { StartError } from '../../shared/domain/start-error.ts';
import { replaceFile } from '../../shared/runtime/files/replace-file.ts';

/** The gateway that `slotgate use` has pinned. */
export interface PinnedGateway {
  readonly url: string;
  readonly publicKey: string;
  readonly cluster: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the file of this user that names the gateway. https://specifications.freedesktop.org/basedir-spec */
export const pinnedGatewayPath = ({ XDG_CONFIG_HOME: folder }: Environment): string =>
  join(folder || join(homedir(), '.config'), 'slotgate', 'gateway.json');

/** Returns the pinned gateway; undefined if there is none. Throws a StartError for a file that can't be used. */
export function readPinnedGateway(env: Environment): PinnedGateway | undefined {
  const path = pinnedGatewayPath(env);
  try {
    const { url, publicKey, cluster } = JSON.parse(readFileSync(path, 'utf8'));
    if ([url, publicKey, cluster].every((member) => typeof member === 'string') && URL.canParse(url))
      return { url, publicKey, cluster };
  } catch (thrown) {
    if (Object(thrown).code === 'ENOENT') return undefined;
  }
  throw new StartError(78, `${path} can't be used: slotgate use --forget removes it`);
}

export function pinGateway(env: Environment, gateway: PinnedGateway): void {
  const path = pinnedGatewayPath(env);
  mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, `${JSON.stringify(gateway, null, 2)}\n`);
}

export const forgetGateway = (env: Environment): void => rmSync(pinnedGatewayPath(env), { force: true });

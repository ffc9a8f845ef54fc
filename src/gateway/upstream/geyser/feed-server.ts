import { tryOrUndefined } from '../../../shared/domain/try-or-undefined.ts';

/** The plugin that serves a feed, as it names itself. */
export interface FeedServer {
  readonly name: string;
  readonly version: string;
}

/** The plugin whose order of messages is known at each version: accounts first, then the block meta. */
export const YELLOWSTONE = 'yellowstone-grpc-geyser';

/** Before it, a race on the freezing of a bank lost late updates of accounts at confirmed. */
const FIRST_GOOD = [14, 2, 2] as const;

/** The longest name or version that is shown: a server chooses it. */
const MAX_LENGTH = 40;

/** Parses the answer to `GetVersion`; undefined for one that names no version. */
export function parseFeedServer(text: string): FeedServer | undefined {
  const { version: about }: { version?: unknown } = Object(tryOrUndefined(() => JSON.parse(text)));
  const { package: name, version }: { package?: unknown; version?: unknown } = Object(about);
  return typeof name === 'string' && typeof version === 'string'
    ? { name: shown(name), version: shown(version) }
    : undefined;
}

/** Returns why nothing can be dated by a feed of this version; undefined if it can. */
export function versionProblem({ name, version }: FeedServer): string | undefined {
  const parts = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
  if (parts === undefined) return `its version "${version}" is unknown`;
  if (name !== YELLOWSTONE) return undefined; // what it must offer is seen in its messages
  const differing = FIRST_GOOD.findIndex((least, i) => parts[i] !== least);
  const isOld = differing >= 0 && (parts[differing] ?? 0) < (FIRST_GOOD[differing] ?? 0);
  return isOld ? `its version ${version} loses late updates; the first without is ${FIRST_GOOD.join('.')}` : undefined;
}

const shown = (text: string): string => text.replace(/[^\w.+-]/g, '').slice(0, MAX_LENGTH);

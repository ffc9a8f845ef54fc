import type { Config } from '../../config/config-schema.ts';
import { readFeedToken } from '../../config/secret-variables.ts';
import { admitFeed, createFeedClient } from '../../gateway/index.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { reasonOf } from '../../shared/domain/reason-of.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import type { NodeProbe } from './node-probe.ts';

type FeedConfig = NonNullable<Config['upstreams'][number]['geyser']>;

export interface FeedCheckOptions {
  /** The node of the feed, by whose blocks it is judged. */
  readonly probe: NodeProbe;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The most bytes of what a feed sends before it can be used. */
  readonly maxBytes: number;
}

const FIX =
  'see the chapter on operating: url, token, version, and owner_reject of the plugin; until then accounts are live over WebSockets';

/** Checks by the rule of a start whether a feed may date accounts. Never rejects. */
export async function checkFeed(
  nameOf: (what: string) => string,
  { url, tokenFile }: FeedConfig,
  { probe, clock, timeoutMs, maxBytes }: FeedCheckOptions,
): Promise<readonly Finding[]> {
  const name = nameOf('feed');
  try {
    const client = await createFeedClient({ url, token: readFeedToken(tokenFile) });
    try {
      const rpc = { call: (method: string, params: readonly unknown[] = []) => callOf(probe, method, params) };
      const { version, mode } = await admitFeed({ client, rpc, clock, timeoutMs, maxBytes });
      const first = await client.firstReplayed().catch(() => undefined);
      const how = mode === 'blocks' ? 'in its blocks' : 'before the meta of a block';
      const replay = nameOf('feed replay');
      return [
        ok(name, `${version.name} ${version.version}: blocks in a row, with the Clock and wallets ${how}`),
        first === undefined
          ? warn(replay, 'none', 'set replay_stored_slots: else accounts are read again after each lost connection')
          : ok(replay, `from slot ${first}`),
      ];
    } finally {
      client.close();
    }
  } catch (thrown) {
    return [fail(name, reasonOf(thrown), FIX)];
  }
}

/** Calls a node as the gateway does, whose results are bytes. */
async function callOf(probe: NodeProbe, method: string, params: readonly unknown[]) {
  const { result, error } = await probe.call(method, params);
  if (error !== undefined) throw new Error(error.message);
  const bytes = Buffer.from(JSON.stringify(result));
  return { slot: 0, result: bytes, value: bytes };
}

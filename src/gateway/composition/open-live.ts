import type { LeaseSource } from '../../shared/domain/lease.ts';
import type { NamedFeed } from '../live/accounts/geyser-feed.ts';
import { LiveAccountSource } from '../live/accounts/live-account-source.ts';
import { bytesOfAccount } from '../live/feed/kept-account.ts';
import { RecentBlocks } from '../live/feed/recent-blocks.ts';
import { VersionRing } from '../live/feed/version-ring.ts';
import { LiveLogs } from '../live/logs/live-logs.ts';
import { PastSlots } from '../live/past-slots.ts';
import { RequestBudgets } from '../live/request-budget.ts';
import { LiveTokenListSource } from '../live/token-lists/live-token-list-source.ts';
import { bytesOfList } from '../live/token-lists/past-token-lists.ts';
import { SharedListings } from '../tokens/owner-listing.ts';
import type { Mesh } from '../upstream/mesh/mesh.ts';
import { AccountBatcher } from '../upstream/reads/account-batcher.ts';
import { OverlappingReads } from '../upstream/reads/overlapping-reads.ts';
import type { Environment } from './environment.ts';
import type { Upstream } from './open-upstream.ts';

/** What `ring.bytes` is divided by for the limit of past token lists. */
const LIST_SHARE = 8;

/** The time in milliseconds for which reads of accounts wait for others while a call is under way: little beside that call. */
const GATHER_MS = 1;

interface LiveOptions {
  readonly advanceHot: (source: LeaseSource) => void;
  /** True where another process has the feeds and the past versions. */
  readonly isFollower: boolean;
}

/** Creates what keeps accounts, token lists and logs live, and their past versions. */
export function openLive(
  env: Environment,
  { mesh, embedded }: Pick<Upstream, 'embedded'> & { readonly mesh: Mesh },
  { advanceHot, isFollower }: LiveOptions,
) {
  const { config, log, clock, random, disposals } = env;
  const budgets = new RequestBudgets(clock, config.live.requestsPerSecond);
  disposals.defer(() => budgets.close());
  const blocks = new RecentBlocks(config.ring.slots);
  const pastSlots = new PastSlots({ blocks, mesh });
  const liveOptions = {
    mesh,
    clock,
    random,
    settings: config.live,
    budgets,
    onLeasesAdvanced: advanceHot,
    onDenied: () => pastSlots.clear(),
    onProblem: (problem: string, fields: object) => log.warn(fields, problem),
  };
  const { agreement } = mesh;
  const accounts = new AccountBatcher(mesh, {
    clock,
    gatherMs: GATHER_MS,
    overlapping:
      agreement && config.receipts.sampleRate > 0 ? new OverlappingReads({ agreement, clock, random }) : undefined,
    tip: (commitment) => mesh.tip(commitment),
  });
  const listBytes = Math.floor(config.ring.bytes / LIST_SHARE);
  const ring = new VersionRing({ ...config.ring, bytes: config.ring.bytes - listBytes }, bytesOfAccount);
  const listRing = new VersionRing({ ...config.ring, bytes: listBytes }, bytesOfList);
  const feeds = isFollower ? [] : feedsOf(env, embedded);
  const feed =
    feeds.length === 0
      ? undefined
      : {
          feeds,
          mesh,
          clock,
          random,
          settings: config.upstreamPolicy,
          ring,
          blocks,
          maxBytes: config.ring.feedBytes,
          onProblem: (node: string, problem: string) =>
            log.warn({ node }, `the Geyser feed can't be used: ${problem}; accounts are kept live over WebSockets`),
          onRecovery: (node: string, recovery: string) => log.info({ node }, recovery),
        };
  const rings = isFollower ? undefined : { accounts: ring, lists: listRing };
  const liveAccounts = new LiveAccountSource({ ...liveOptions, upstream: accounts, feed, ring: rings?.accounts });
  disposals.defer(() => liveAccounts.feed?.close());
  const listings = new SharedListings(mesh);
  const tokenLists = new LiveTokenListSource({ ...liveOptions, listOwner: listings.list, ring: rings?.lists });
  const liveLogs = new LiveLogs(liveOptions);
  disposals.defer(() => liveLogs.close());
  const liveSources = [liveAccounts.liveSet, liveAccounts.secondSet ?? [], tokenLists.liveSet].flat();
  return { accounts, liveAccounts, listings, tokenLists, liveLogs, liveSources, blocks, pastSlots, ring, listRing };
}

const feedsOf = ({ config, feedTokens }: Environment, embedded: Upstream['embedded']): readonly NamedFeed[] =>
  embedded === undefined
    ? config.upstreams.flatMap(({ id, geyser }) =>
        geyser === undefined ? [] : [{ id, url: geyser.url, token: feedTokens.get(id) }],
      )
    : embedded.geyserUrl === undefined
      ? []
      : [{ id: 'embedded', url: embedded.geyserUrl, token: undefined }];

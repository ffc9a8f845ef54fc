import type { Config } from '../../config/config-schema.ts';
import type { ClusterVitals } from '../../shared/domain/cluster-vitals.ts';
import type { RecentWarnings } from '../../shared/runtime/recent-warnings.ts';
import type { Tally } from '../../shared/runtime/tally.ts';
import type { Access } from '../access/access.ts';
import type { ChannelStats } from '../fleet/transport/redis/event-receiver.ts';
import type { Server } from '../http/server.ts';
import type { VersionRing } from '../live/feed/version-ring.ts';
import type { LiveSetStats } from '../live/live-set.ts';
import type { EquivocationGuard } from '../receipts/equivocation-guard.ts';
import type { Uses } from '../routes/routing/route.ts';
import type { Sealer } from '../serving/sealer.ts';
import type { WorkerFigures } from './worker-figures.ts';

/** The parts of the gateway that the listener for operators reads. Each counts for itself; nothing is pushed here. */
export interface AdminSources {
  readonly config: Config;
  readonly context: Uses<
    | 'cache'
    | 'mesh'
    | 'clock'
    | 'keys'
    | 'version'
    | 'engine'
    | 'startedMs'
    | 'startupProblem'
    | 'problems'
    | 'isLeaving'
    | 'geyser'
  >;
  readonly server: Pick<Server, 'answerCounts' | 'stream' | 'subscribers' | 'pendingResponses' | 'pendingBytes'>;
  readonly access: Pick<Access, 'admission' | 'connectionLimiter' | 'lag' | 'rateLimiter' | 'usage'>;
  readonly vitals: Pick<ClusterVitals, 'consensus' | 'failures'>;
  readonly sealer: Pick<Sealer, 'sealedCount' | 'signatureCount'>;
  readonly guard: Pick<EquivocationGuard, 'conflicts' | 'receiptMode'>;
  readonly liveAccounts: LiveSetStats;
  readonly tokenLists: LiveSetStats;
  readonly ring: Pick<VersionRing, 'bytes'>;
  /** The seconds from a slot's arrival to the frame that reports it. */
  readonly frameDelays: Tally;
  readonly warnings: Pick<RecentWarnings, 'all'>;
  readonly failedReloads: { readonly receiptKeys: number; readonly settings: number };
  /** What workers count; undefined where this process serves the port itself. */
  readonly workers?: WorkerFigures | undefined;
  /** The part in the watch of a fleet, and the number of accounts and lists that are followed; undefined without one. */
  readonly watch?: { readonly role: string; readonly followed: number } | undefined;
  readonly feed?: (() => ChannelStats | undefined) | undefined;
}

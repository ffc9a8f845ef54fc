import process from 'node:process';
import { CLUSTER_CONSENSUSES } from '../../shared/domain/cluster-consensus.ts';
import { COMMITMENTS } from '../../shared/domain/commitment.ts';
import { readOnce } from '../../shared/runtime/read-once.ts';
import { Tally } from '../../shared/runtime/tally.ts';
import type { GeyserFeedStatus } from '../live/accounts/geyser-feed.ts';
import { NODE_STATES, type NodeFigures } from '../upstream/mesh/mesh.ts';
import type { AdminSources } from './admin-sources.ts';
import { type Metric, readDeclarations, type Series } from './metric.ts';
import { readLoopUtilization, readProcessFigures } from './process-figures.ts';
import { isReady } from './readiness.ts';

type Counts = ReadonlyMap<string | number, number> | Readonly<Record<string, number>>;

/** Returns one value, one for each label, or series. */
type Read = () => number | Tally | undefined | Counts | Iterable<Series> | Promise<number | undefined>;

/** Lists all metrics, which `config/monitoring/metrics.tsv` declares. Throws for one that it does not. */
export function metricsOf(sources: AdminSources): readonly Metric[] {
  const declarations = readDeclarations();
  return Object.entries(readsOf(sources)).map(([name, read]) => {
    const declaration = declarations.find((declared) => declared.name === name);
    if (declaration === undefined) throw new Error(`metrics.tsv has no row ${name}`);
    return { ...declaration, read: () => seriesOf(read) };
  });
}

async function seriesOf(read: Read): Promise<Iterable<Series>> {
  const value = await read();
  if (value === undefined) return [];
  if (typeof value === 'number' || value instanceof Tally) return [[[], value]];
  if (!(value instanceof Map) && Symbol.iterator in value) return value as Iterable<Series>;
  const counts: Iterable<readonly [string | number, number]> = value instanceof Map ? value : Object.entries(value);
  return [...counts].map(([label, count]) => [[label], count]);
}

function readsOf(sources: AdminSources): Readonly<Record<string, Read>> {
  const { context, server, access, vitals, sealer, guard, liveAccounts, tokenLists, ring, workers, watch } = sources;
  const { feed = () => undefined, failedReloads, frameDelays } = sources;
  const { cache, mesh, keys, engine, version } = context;
  const { answerCounts } = server;
  const { rateLimiter, admission } = access;
  const figures = readOnce(readProcessFigures);
  const readLoop = readLoopUtilization();
  const byNode = (select: (figures: NodeFigures) => number | Tally | null) =>
    function* (): Iterable<Series> {
      for (const figures of mesh.figures()) {
        const value = select(figures);
        if (value !== null) yield [[figures.id], value];
      }
    };
  const ofGeyser = (select: (status: GeyserFeedStatus) => number | null) =>
    function* (): Iterable<Series> {
      const status = context.geyser();
      const value = status && select(status);
      if (status !== null && value !== null) yield [[status.id], value];
    };
  return {
    *slotgate_http_requests_total(): Iterable<Series> {
      for (const [route, { hits, byStatus }] of answerCounts.routes) {
        if (hits > 0 || byStatus.has(200)) yield [[route, 200], hits + (byStatus.get(200) ?? 0)];
        for (const [code, count] of byStatus) if (code !== 200) yield [[route, code], count];
      }
    },
    slotgate_http_errors_total: () => answerCounts.errors,
    slotgate_http_connections_refused_total: () => access.connectionLimiter.refused,
    *slotgate_http_uncached_duration_seconds(): Iterable<Series> {
      for (const [route, { uncachedSeconds }] of answerCounts.routes)
        if (uncachedSeconds.count > 0) yield [[route], uncachedSeconds];
    },
    slotgate_http_responses_owed: () => server.pendingResponses,
    slotgate_http_owed_bytes: () => server.pendingBytes,

    slotgate_cache_reads_total: () => ({ ...cache.reads, hit: cache.reads.hit + answerCounts.hits }),
    slotgate_cache_evictions_total: () => cache.evictions,
    slotgate_cache_entries: () => cache.entryCount,
    slotgate_cache_bytes: () => cache.sizeBytes,
    slotgate_cache_limit_bytes: () => cache.maxBytes,

    *slotgate_slot(): Iterable<Series> {
      for (const commitment of COMMITMENTS) {
        const slot = mesh.tip(commitment);
        if (slot !== undefined) yield [[commitment], slot];
      }
    },
    slotgate_slot_age_seconds: () => (cache.tip === 0 ? undefined : cache.tipAgeMs / 1000),
    slotgate_cluster_consensus: () =>
      new Map(CLUSTER_CONSENSUSES.map((each) => [each, Number(each === vitals.consensus)])),
    slotgate_ready: () => Number(isReady({ context, workers })),
    slotgate_watched: () => ({ account: liveAccounts.size, token_list: tokenLists.size }),
    slotgate_watch_role: () => ({ [watch?.role ?? 'alone']: 1 }),
    slotgate_watch_followed: () => watch?.followed ?? 0,
    slotgate_frame_delay_seconds: () => frameDelays,
    slotgate_watch_audits_total: () => liveAccounts.audited + tokenLists.audited,
    slotgate_watch_false_claims_total: () => liveAccounts.leaseViolations + tokenLists.leaseViolations,
    slotgate_pipeline_failures_total: () => vitals.failures,

    slotgate_feed_messages_total() {
      const { sent = 0, unsent = 0, received = 0 } = feed() ?? {};
      return { sent, unsent, received };
    },
    slotgate_feed_bytes_total: () => ({ sent: feed()?.sentBytes ?? 0, received: feed()?.receivedBytes ?? 0 }),
    slotgate_feed_rejected_total: () => feed()?.rejected ?? { mac: 0, malformed: 0, outdated: 0 },
    slotgate_feed_gaps_total: () => feed()?.gaps ?? 0,
    slotgate_feed_snapshots_total: () => ({ sent: feed()?.snapshotsSent ?? 0, taken: feed()?.snapshotsTaken ?? 0 }),

    slotgate_geyser_up: ofGeyser(({ status }) => Number(status === 'up')),
    slotgate_geyser_behind_slots: ofGeyser(({ behindSlots }) => behindSlots),
    slotgate_geyser_accounts: ofGeyser(({ accounts }) => accounts),
    slotgate_geyser_gaps: ofGeyser(({ gaps }) => gaps),
    slotgate_geyser_reconnects: ofGeyser(({ reconnects }) => reconnects),
    slotgate_ring_bytes: () => ring.bytes,

    *slotgate_upstream_state(): Iterable<Series> {
      for (const { id, state } of mesh.figures())
        for (const each of NODE_STATES) yield [[id, each], Number(each === state)];
    },
    slotgate_upstream_behind_slots: byNode(({ behindSlots }) => behindSlots),
    slotgate_upstream_websocket_up: byNode(({ isWebSocketUp }) => Number(isWebSocketUp)),
    slotgate_upstream_subscriptions: byNode(({ subscriptions }) => subscriptions),
    slotgate_upstream_reconnects_total: byNode(({ reconnects }) => reconnects),
    slotgate_upstream_hedges_total: byNode(({ hedges }) => hedges),
    slotgate_upstream_disagreements_total: byNode(({ disagreements }) => disagreements),
    *slotgate_upstream_disagreement_slot(): Iterable<Series> {
      for (const { id } of mesh.figures()) {
        const { slot = 0, digest = '', expected = '' } = mesh.agreement?.disagreements.lastOf(id) ?? {};
        yield [[id, digest, expected], slot];
      }
    },
    slotgate_upstream_undecided_total: () => mesh.agreement?.disagreements.undecided ?? 0,
    *slotgate_upstream_requests_total(): Iterable<Series> {
      for (const { id, requests } of mesh.figures())
        for (const [method, results] of requests)
          for (const [result, count] of Object.entries(results)) yield [[id, method, result], count];
    },
    slotgate_upstream_duration_seconds: byNode(({ seconds }) => seconds),

    slotgate_receipts_signed_total: () => sealer.sealedCount,
    slotgate_receipt_signatures_total: () => sealer.signatureCount,
    slotgate_receipt_conflicts_total: () => guard.conflicts,
    slotgate_receipt_exact: () => Number(guard.receiptMode === 'exact'),
    slotgate_receipt_key_info: () => ({ [keys.active.kid]: 1 }),

    *slotgate_ratelimit_decisions_total(): Iterable<Series> {
      for (const [tier, decisions] of Object.entries(rateLimiter.counts.decisions))
        for (const [result, count] of Object.entries(decisions)) yield [[tier, result], count];
    },
    slotgate_ratelimit_units_total: () => ({
      charged: rateLimiter.counts.charged,
      given_back: rateLimiter.counts.givenBack,
    }),
    slotgate_ratelimit_debt_units_total: () => rateLimiter.counts.debt,
    slotgate_admission_refused_total: () => admission.refused,
    slotgate_usage_write_failures_total: () => access.usage.failures,
    slotgate_untrusted_forwarded_total: () => answerCounts.untrustedForwarded,
    slotgate_ratelimit_identities: () => rateLimiter.size,
    slotgate_admission_running: () => admission.ofCallers.running,
    slotgate_admission_waiting: () => admission.ofCallers.waiting,

    slotgate_stream_connections() {
      const sums = new Map<string, readonly [labels: readonly (string | number)[], sum: number]>();
      for (const { format, intervalMs, connections } of server.stream.channels) {
        const name = `${format} ${intervalMs}`;
        sums.set(name, [[format, intervalMs], (sums.get(name)?.[1] ?? 0) + connections]);
      }
      return sums.values();
    },
    slotgate_stream_subscriptions: () => server.stream.subscriptions,
    slotgate_stream_frames_total: () => server.stream.frames,
    slotgate_stream_dropped_total: () => server.stream.dropped,
    *slotgate_stream_closes_total(): Iterable<Series> {
      for (const [code, count] of server.stream.closes) yield [[code === 0 ? 'other' : code], count];
    },

    slotgate_build_info: (): Iterable<Series> => [
      [[version, process.versions.node, `${engine.name} ${engine.version}`, mesh.genesisHash ?? ''], 1],
    ],
    slotgate_workers: () => workers?.names.length ?? 0,
    slotgate_reload_failures_total: () => ({
      receipt_keys: failedReloads.receiptKeys,
      settings: failedReloads.settings,
    }),
    slotgate_event_loop_utilization_ratio: readLoop,
    slotgate_event_loop_delay_seconds: () => access.lag.medianMs / 1000,
    process_cpu_seconds_total: async () => (await figures()).cpuSeconds,
    process_resident_memory_bytes: async () => (await figures()).residentBytes,
    process_start_time_seconds: async () => (await figures()).startSeconds,
    process_open_fds: async () => (await figures()).openFiles,
    process_max_fds: async () => (await figures()).maxFiles,
    nodejs_heap_size_used_bytes: async () => (await figures()).heapUsedBytes,
  };
}

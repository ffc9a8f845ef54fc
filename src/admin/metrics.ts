import process from 'node:process';
import { COMMITMENTS } from '../domain/commitment.ts';
import type { Tally } from '../domain/tally.ts';
import { NODE_STATES, type NodeFigures } from '../upstream/mesh/mesh.ts';
import type { AdminSources } from './admin-sources.ts';
import type { Metric, Series } from './metric.ts';
import { LoopUtilization, readProcessFigures } from './process-figures.ts';
import { isReady } from './readiness.ts';

type Read<V> = () => V | undefined | Iterable<Series<V>> | Promise<number | undefined>;

/** Returns a metric's series: of a single value that without labels, of none no series. */
const seriesOf =
  <V extends number | Tally>(read: Read<V>) =>
  async (): Promise<Iterable<Series<V>>> => {
    const value = (await read()) as V | undefined | Iterable<Series<V>>;
    if (value === undefined) return [];
    return typeof value === 'object' && Symbol.iterator in value ? value : [[[], value]];
  };

const counter = (name: string, help: string, labels: readonly string[], read: Read<number>): Metric => ({
  type: 'counter',
  name,
  help,
  labels,
  read: seriesOf(read),
});

const gauge = (name: string, help: string, labels: readonly string[], read: Read<number>): Metric => ({
  type: 'gauge',
  name,
  help,
  labels,
  read: seriesOf(read),
});

const histogram = (name: string, help: string, labels: readonly string[], read: Read<Tally>): Metric => ({
  type: 'histogram',
  name,
  help,
  labels,
  read: seriesOf(read),
});

/** Lists all metrics; `config/monitoring/metrics.tsv` is the same list for operators. */
export const metricsOf = (sources: AdminSources): readonly Metric[] => [
  ...httpMetrics(sources).map(over('workers')),
  ...cacheMetrics(sources),
  ...freshnessMetrics(sources),
  ...feedMetrics(sources),
  ...upstreamMetrics(sources),
  ...receiptMetrics(sources),
  ...accessMetrics(sources),
  ...streamMetrics(sources),
  ...processMetrics(sources),
];

const over =
  (processes: NonNullable<Metric['over']>) =>
  (metric: Metric): Metric => ({ ...metric, over: processes });

const httpMetrics = ({ server, access }: AdminSources): readonly Metric[] => [
  counter(
    'slotgate_http_requests_total',
    'Requests answered, by route and HTTP status code.',
    ['route', 'code'],
    function* () {
      for (const [route, { hits, byStatus }] of server.meter.routes) {
        if (hits > 0 || byStatus.has(200)) yield [[route, 200], hits + (byStatus.get(200) ?? 0)];
        for (const [code, count] of byStatus) if (code !== 200) yield [[route, code], count];
      }
    },
  ),
  counter('slotgate_http_errors_total', 'Error answers, by error code.', ['error'], () =>
    mapSeries(server.meter.errors),
  ),
  counter(
    'slotgate_http_connections_refused_total',
    'Connections closed at the door because their address opens too many.',
    [],
    () => access.connectionLimiter.refused,
  ),
  histogram(
    'slotgate_http_uncached_duration_seconds',
    'Time from a request to its answer where the cache had none.',
    ['route'],
    function* () {
      for (const [route, { uncachedSeconds }] of server.meter.routes)
        if (uncachedSeconds.count > 0) yield [[route], uncachedSeconds];
    },
  ),
  gauge('slotgate_http_responses_owed', 'Requests that have not been answered yet.', [], () => server.pendingResponses),
  gauge(
    'slotgate_http_owed_bytes',
    'Bytes of answers that their readers have not taken yet.',
    [],
    () => server.owedBytes,
  ),
];

const cacheMetrics = ({ context: { cache }, server }: AdminSources): readonly Metric[] => [
  over('workers')(
    counter(
      'slotgate_cache_reads_total',
      "Reads, by where the answer came from; joined waited for another caller's read.",
      ['result'],
      () => mapSeries(Object.entries({ ...cache.reads, hit: cache.reads.hit + server.meter.hits })),
    ),
  ),
  over('all')(
    counter(
      'slotgate_cache_evictions_total',
      'Entries dropped to stay within the memory bound.',
      [],
      () => cache.evictions,
    ),
  ),
  over('all')(gauge('slotgate_cache_entries', 'Answers held.', [], () => cache.entryCount)),
  over('all')(gauge('slotgate_cache_bytes', 'Memory of all entries.', [], () => cache.sizeBytes)),
  over('all')(gauge('slotgate_cache_limit_bytes', 'Memory that entries may take.', [], () => cache.maxBytes)),
];

const freshnessMetrics = ({
  context,
  vitals,
  liveAccounts,
  tokenLists,
  frameDelays,
  watch,
}: AdminSources): readonly Metric[] => [
  gauge('slotgate_slot', 'Newest slot that is believed in.', ['commitment'], function* () {
    for (const commitment of COMMITMENTS) {
      const slot = context.mesh.tip(commitment);
      if (slot !== undefined) yield [[commitment], slot];
    }
  }),
  gauge('slotgate_slot_age_seconds', 'Time since the newest processed slot was seen.', [], () =>
    context.cache.tip === 0 ? undefined : context.cache.tipAgeMs / 1000,
  ),
  gauge('slotgate_ready', '1 when /readyz answers 200.', [], () => Number(isReady(context))),
  gauge('slotgate_watched', 'Accounts and lists that are kept live.', ['kind'], () => [
    [['account'], liveAccounts.size],
    [['token_list'], tokenLists.size],
  ]),
  gauge('slotgate_watch_role', "1 for the gateway's part in the watch of its fleet.", ['role'], () => [
    [[watch?.role ?? 'alone'], 1],
  ]),
  gauge(
    'slotgate_watch_followed',
    'Accounts and lists kept live by the leader for followers; at a follower, by the leader for it.',
    [],
    () => watch?.followed ?? 0,
  ),
  histogram(
    'slotgate_frame_delay_seconds',
    'Time from a slot notification to the published frame.',
    [],
    () => frameDelays,
  ),
  counter(
    'slotgate_watch_audits_total',
    'Live answers that were compared with a node.',
    [],
    () => liveAccounts.audited + tokenLists.audited,
  ),
  counter(
    'slotgate_watch_false_claims_total',
    'Live answers that an audit found wrong. Must stay 0.',
    [],
    () => liveAccounts.leaseViolations + tokenLists.leaseViolations,
  ),
  counter(
    'slotgate_pipeline_failures_total',
    'Failed reads of what the pipeline keeps; the old answer goes on.',
    ['part'],
    () => mapSeries(vitals.failures),
  ),
];

function upstreamMetrics({ context: { mesh } }: AdminSources): readonly Metric[] {
  const byNode = (select: (figures: NodeFigures) => number | null) =>
    function* (): Iterable<Series<number>> {
      for (const figures of mesh.figures()) {
        const value = select(figures);
        if (value !== null) yield [[figures.id], value];
      }
    };
  return [
    gauge('slotgate_upstream_state', '1 for the state that the node is in.', ['upstream', 'state'], function* () {
      for (const { id, state } of mesh.figures())
        for (const each of NODE_STATES) yield [[id, each], Number(each === state)];
    }),
    gauge(
      'slotgate_upstream_behind_slots',
      'Slots that the node is behind the best one.',
      ['upstream'],
      byNode(({ behindSlots }) => behindSlots),
    ),
    gauge(
      'slotgate_upstream_websocket_up',
      "1 while the node's WebSocket is open.",
      ['upstream'],
      byNode(({ isWebSocketUp }) => Number(isWebSocketUp)),
    ),
    gauge(
      'slotgate_upstream_subscriptions',
      'Subscriptions held at the node.',
      ['upstream'],
      byNode(({ subscriptions }) => subscriptions),
    ),
    counter(
      'slotgate_upstream_reconnects_total',
      'WebSockets opened again after a loss.',
      ['upstream'],
      byNode(({ reconnects }) => reconnects),
    ),
    counter(
      'slotgate_upstream_hedges_total',
      'Late reads that were asked of another node too.',
      ['upstream'],
      byNode(({ hedges }) => hedges),
    ),
    counter(
      'slotgate_upstream_requests_total',
      'Requests to the node, by RPC method and outcome.',
      ['upstream', 'method', 'result'],
      function* () {
        for (const { id, requests } of mesh.figures())
          for (const [method, results] of requests)
            for (const [result, count] of Object.entries(results)) yield [[id, method, result], count];
      },
    ),
    histogram('slotgate_upstream_duration_seconds', 'Time the node took to answer.', ['upstream'], function* () {
      for (const { id, seconds } of mesh.figures()) yield [[id], seconds];
    }),
  ];
}

const receiptMetrics = ({ context: { keys }, sealer, guard }: AdminSources): readonly Metric[] => [
  over('all')(counter('slotgate_receipts_signed_total', 'Receipts made.', [], () => sealer.sealedCount)),
  over('all')(
    counter('slotgate_receipt_signatures_total', 'Signatures that the receipts took.', [], () => sealer.signatureCount),
  ),
  counter(
    'slotgate_receipt_conflicts_total',
    'Finalized slots for which nodes gave two results. Must stay 0.',
    [],
    () => guard.conflicts,
  ),
  gauge('slotgate_receipt_exact', '1 when finalized answers may be signed as exact.', [], () =>
    Number(guard.isSoleSigner),
  ),
  gauge('slotgate_receipt_key_info', 'Constant 1, labelled by the key that signs now.', ['kid'], () => [
    [[keys.active.kid], 1],
  ]),
];

const accessMetrics = ({ access, server }: AdminSources): readonly Metric[] => [
  over('workers')(
    counter(
      'slotgate_ratelimit_decisions_total',
      'Requests let through or refused by the limiter.',
      ['tier', 'result'],
      function* () {
        for (const [tier, decisions] of Object.entries(access.rateLimiter.counts.decisions))
          for (const [result, count] of Object.entries(decisions)) yield [[tier, result], count];
      },
    ),
  ),
  over('workers')(
    counter(
      'slotgate_ratelimit_units_total',
      'Units charged, and those of them that were given back.',
      ['result'],
      () => [
        [['charged'], access.rateLimiter.counts.charged],
        [['given_back'], access.rateLimiter.counts.givenBack],
      ],
    ),
  ),
  over('workers')(
    counter(
      'slotgate_ratelimit_debt_units_total',
      "Units charged beyond what was left in the caller's window; the next one pays them.",
      [],
      () => access.rateLimiter.counts.debt,
    ),
  ),
  over('all')(
    counter('slotgate_admission_refused_total', 'Reads refused as overloaded.', [], () => access.admission.refused),
  ),
  over('all')(
    counter(
      'slotgate_usage_write_failures_total',
      'Failed writes of the usage file; what was counted is kept.',
      [],
      () => access.usage.failures,
    ),
  ),
  over('workers')(
    counter(
      'slotgate_untrusted_forwarded_total',
      '429 answers to a peer that sends X-Forwarded-For and is not in trustedProxies.',
      [],
      () => server.meter.untrustedForwarded,
    ),
  ),
  over('workers')(
    gauge('slotgate_ratelimit_identities', 'Callers with an open window.', [], () => access.rateLimiter.size),
  ),
  gauge('slotgate_admission_running', 'Reads under way at the nodes.', [], () => access.admission.running),
  over('all')(
    gauge('slotgate_admission_waiting', 'Reads that wait for their turn.', [], () => access.admission.waiting),
  ),
];

const streamMetrics = ({ server }: AdminSources): readonly Metric[] => [
  over('workers')(
    gauge('slotgate_stream_connections', 'Open connections of the stream.', ['format', 'interval'], () => {
      const sums = new Map<string, Series<number>>();
      for (const { format, intervalMs, connections } of server.stream.channels) {
        const name = `${format} ${intervalMs}`;
        sums.set(name, [[format, intervalMs], (sums.get(name)?.[1] ?? 0) + connections]);
      }
      return sums.values();
    }),
  ),
  over('workers')(
    gauge('slotgate_stream_subscriptions', 'Account subscriptions of listeners.', ['topic'], () =>
      mapSeries(server.stream.subscriptions),
    ),
  ),
  counter('slotgate_stream_frames_total', 'Frames published.', [], () => server.stream.frames),
  over('workers')(
    counter(
      'slotgate_stream_dropped_total',
      'Frames not sent to readers that were too slow.',
      [],
      () => server.stream.dropped,
    ),
  ),
  over('workers')(
    counter(
      'slotgate_stream_closes_total',
      'Connections of the stream that ended, by close code.',
      ['code'],
      function* () {
        for (const [code, count] of server.stream.closes) yield [[code === 0 ? 'other' : code], count];
      },
    ),
  ),
];

/** What the feed of a fleet counts, in series of one value each. */
const feedMetrics = ({ feed = () => undefined }: AdminSources): readonly Metric[] => [
  counter('slotgate_feed_messages_total', 'Messages of the feed of the fleet.', ['direction'], () => {
    const { sent = 0, unsent = 0, received = 0 } = feed() ?? {};
    return mapSeries(Object.entries({ sent, unsent, received }));
  }),
  counter('slotgate_feed_bytes_total', 'Bytes of these messages.', ['direction'], () => {
    const { sentBytes: sent = 0, receivedBytes: received = 0 } = feed() ?? {};
    return mapSeries(Object.entries({ sent, received }));
  }),
  counter(
    'slotgate_feed_rejected_total',
    'Messages of the feed that were not taken. Other than outdated must stay 0: somebody else writes to Redis.',
    ['reason'],
    () => mapSeries(Object.entries(feed()?.rejected ?? { mac: 0, version: 0, malformed: 0, outdated: 0 })),
  ),
  counter('slotgate_feed_gaps_total', 'Times that messages of the leader were missing.', [], () => feed()?.gaps ?? 0),
  counter('slotgate_feed_snapshots_total', 'Snapshots of what the leader keeps.', ['direction'], () => {
    const { snapshotsSent: sent = 0, snapshotsTaken: taken = 0 } = feed() ?? {};
    return mapSeries(Object.entries({ sent, taken }));
  }),
];

function processMetrics({
  context: { version, engine, mesh },
  access,
  workers,
  failedReloads,
}: AdminSources): readonly Metric[] {
  const loop = new LoopUtilization();
  const figures = readOnce(readProcessFigures);
  return [
    gauge(
      'slotgate_build_info',
      'Constant 1, labelled by version, Node, HTTP engine and genesis hash.',
      ['version', 'node', 'engine', 'cluster'],
      () => [[[version, process.versions.node, `${engine.name} ${engine.version}`, mesh.genesisHash ?? ''], 1]],
    ),
    gauge('slotgate_workers', 'Worker processes that serve the port.', [], () => workers?.names.length ?? 0),
    counter('slotgate_reload_failures_total', 'Reloads of what could not be used: the old stays.', ['part'], () => [
      [['receipt_keys'], failedReloads.receiptKeys],
      [['settings'], failedReloads.settings],
    ]),
    over('each')(
      gauge(
        'slotgate_event_loop_utilization_ratio',
        'Share of the time since the last scrape in which the event loop was busy.',
        [],
        () => loop.take(),
      ),
    ),
    over('each')(
      gauge(
        'slotgate_event_loop_delay_seconds',
        'Median lateness of the event loop.',
        [],
        () => access.loopDelayMs / 1000,
      ),
    ),
    over('each')(counter('process_cpu_seconds_total', 'CPU time used.', [], async () => (await figures()).cpuSeconds)),
    over('each')(
      gauge('process_resident_memory_bytes', 'Resident memory.', [], async () => (await figures()).residentBytes),
    ),
    over('each')(
      gauge('process_start_time_seconds', 'Start, in Unix seconds.', [], async () => (await figures()).startSeconds),
    ),
    over('each')(gauge('process_open_fds', 'Open file descriptors.', [], async () => (await figures()).openFiles)),
    over('each')(
      gauge('process_max_fds', 'File descriptors that may be open.', [], async () => (await figures()).maxFiles),
    ),
    over('each')(
      gauge(
        'nodejs_heap_size_used_bytes',
        'Used memory of the JavaScript heap.',
        [],
        async () => (await figures()).heapUsedBytes,
      ),
    ),
  ];
}

/** Returns a function that shares one read among those who ask while it is under way: the metrics of one scrape. */
function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

function* mapSeries(counts: Iterable<readonly [string | number, number]>): Iterable<Series<number>> {
  for (const [label, count] of counts) yield [[label], count];
}

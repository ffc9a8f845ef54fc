import process from 'node:process';
import { formatConfig } from '../../config/print-config.ts';
import { type AdminPage, json, plain } from './admin-page.ts';
import type { AdminSources } from './admin-sources.ts';
import { checkReadiness } from './readiness.ts';

export const createStatusPage =
  (sources: AdminSources): AdminPage =>
  (query) => {
    const status = statusOf(sources);
    return query.get('format') === 'json' ? json(status) : plain(200, formatLines(status, '').join('\n'));
  };

/** Returns what an operator wants to see at a glance. It has no secret: URLs are masked as `config print` masks them. */
function statusOf(sources: AdminSources) {
  const { config, context, server, access, liveAccounts, tokenLists, warnings, ...others } = sources;
  const { cache, mesh, clock, keys, version, engine, startedMs } = context;
  const { stream } = server;
  const { workers } = others;
  const total = (metric: string, own: number): number =>
    workers === undefined ? own : [...workers.sumOf(metric).values()].reduce((sum, value) => sum + value, 0);
  return {
    slotgate: {
      version,
      engine,
      node: process.versions.node,
      pid: process.pid,
      uptimeSec: seconds(clock.monotonic() - startedMs),
      ...(workers !== undefined && { workers: workers.names.length }),
    },
    ready: Object.fromEntries(checkReadiness(sources).map(({ name, problem }) => [name, problem ?? 'ok'])),
    problems: context.problems(),
    cluster: mesh.genesisHash ?? null,
    consensus: others.vitals.consensus,
    slot: { processed: cache.tip, ageSec: cache.tip === 0 ? null : seconds(cache.tipAgeMs) },
    nodes: mesh.nodes(),
    cache: {
      entries: cache.entryCount,
      bytes: cache.sizeBytes,
      limitBytes: cache.maxBytes,
      reads: workers === undefined ? cache.reads : Object.fromEntries(workers.sumOf('slotgate_cache_reads_total')),
      ...(workers === undefined && { hits: server.answerCounts.hits }), // workers report them with their reads
    },
    live: {
      accounts: liveAccounts.size,
      tokenLists: tokenLists.size,
      lostSessions: liveAccounts.lostSessions + tokenLists.lostSessions,
    },
    geyser: context.geyser() ?? 'none',
    requests: {
      unanswered: total('slotgate_http_responses_owed', server.pendingResponses),
      owedBytes: total('slotgate_http_owed_bytes', server.pendingBytes),
      atNodes: access.admission.ofCallers.running,
      waiting: access.admission.ofCallers.waiting,
      callers: total('slotgate_ratelimit_identities', access.rateLimiter.size),
    },
    stream: {
      connections: total('slotgate_stream_connections', server.subscribers),
      subscriptions: Object.fromEntries(workers?.sumOf('slotgate_stream_subscriptions') ?? stream.subscriptions),
      frames: stream.frames,
    },
    receipts: { kid: keys.active.kid, exact: others.guard.receiptMode === 'exact', conflicts: others.guard.conflicts },
    warnings: warnings.all,
    config: JSON.parse(formatConfig(config)) as unknown,
  };
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

function formatLines(value: object, indent: string): string[] {
  return Object.entries(value).flatMap(([name, member]): string[] => {
    if (typeof member !== 'object' || member === null) return [`${indent}${name}: ${member}`];
    const short = Array.isArray(member) ? '' : formatShort(member);
    if (short !== '') return [`${indent}${name}: ${short}`];
    const inner = formatLines(member, `${indent}  `);
    return inner.length === 0 ? [`${indent}${name}: none`] : [`${indent}${name}`, ...inner];
  });
}

/** Formats an object of plain values in one line; returns '' for one that has others, or is long. */
function formatShort(value: object): string {
  const members = Object.entries(value);
  if (members.length === 0 || members.some(([, member]) => typeof member === 'object' && member !== null)) return '';
  const line = members.map(([name, member]) => `${name} ${member}`).join(', ');
  return line.length <= MAX_LINE_LENGTH ? line : '';
}

const MAX_LINE_LENGTH = 120;

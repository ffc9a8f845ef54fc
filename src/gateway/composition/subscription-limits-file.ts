import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../../shared/domain/clock.ts';
import type { DurableWrites } from '../../shared/runtime/durable-writes.ts';
import { createFolder } from '../../shared/runtime/files/create-folder.ts';
import { readRegularFile } from '../../shared/runtime/files/read-regular-file.ts';
import { replaceFile } from '../../shared/runtime/files/replace-file.ts';
import { type LearnedLimit, type LearnedLimits, REMEMBERED_MS } from '../upstream/pubsub/subscription-limit.ts';

export interface LearnedLimitsFileOptions {
  readonly clock: Clock;
  readonly dataDir: string;
  readonly writes: Pick<DurableWrites, 'keep'>;
}

/** Most nodes that are remembered, those of the latest lessons. */
const MAX_NODES = 64;
/** More than they need. */
const MAX_FILE_BYTES = 1 << 16;

type LimitsByNode = Map<string, LearnedLimit>;

/** Remembers for a day. Of a node it keeps only a digest of its address, which may hold a key. */
export function openLearnedLimits({ clock, dataDir, writes }: LearnedLimitsFileOptions): LearnedLimits {
  const path = join(dataDir, 'subscription-limits.json');
  const latest = (limits: LimitsByNode): LimitsByNode =>
    new Map(
      [...limits]
        .filter(([, { learnedMs }]) => Math.abs(clock.now() - learnedMs) <= REMEMBERED_MS)
        .sort(([, a], [, b]) => b.learnedMs - a.learnedMs)
        .slice(0, MAX_NODES),
    );
  const unsaved: LimitsByNode = new Map();
  const known = (): LimitsByNode => latest(new Map([...readLimits(path), ...unsaved])); // another process may have added some
  return {
    get: (wsUrl) => known().get(nodeKey(wsUrl)),
    set(wsUrl, learned) {
      unsaved.set(nodeKey(wsUrl), learned);
      writes.keep('the subscription limits of nodes', () => {
        createFolder(dataDir);
        replaceFile(path, `${JSON.stringify({ nodes: Object.fromEntries(known()) }, null, 2)}\n`);
        unsaved.clear();
      });
    },
  };
}

const nodeKey = (wsUrl: string): string => createHash('sha256').update(wsUrl).digest('hex').slice(0, 32);

function readLimits(path: string): LimitsByNode {
  try {
    const { nodes } = JSON.parse(readRegularFile(path, MAX_FILE_BYTES));
    return new Map(Object.entries(nodes).flatMap(([key, value]) => (isLearnedLimit(value) ? [[key, value]] : [])));
  } catch {
    return new Map();
  }
}

function isLearnedLimit(value: unknown): value is LearnedLimit {
  const { limit, proven, failed, learnedMs } = (value ?? {}) as Record<string, unknown>; // checked below
  const isCount = (count: unknown): boolean => Number.isSafeInteger(count) && Number(count) >= 0;
  return (
    isCount(limit) && Number(limit) > 0 && isCount(proven) && (failed === null || isCount(failed)) && isCount(learnedMs)
  );
}

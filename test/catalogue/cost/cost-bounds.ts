export interface Cost {
  readonly units: number;
  /** CPU milliseconds of the main thread's longest turn. */
  readonly turnMs: number;
  /** CPU milliseconds of all threads, without what the idle gateway takes. */
  readonly cpuMs: number;
  readonly calls: number;
  readonly readBytes: number;
  readonly keptBytes: number;
  /** Peak of resident memory above what was resident before; only where it was confirmed. */
  readonly peakBytes: number;
  /** Longest wait of a bystander for /health, in milliseconds by the clock. */
  readonly waitMs: number;
  readonly statuses: string;
  /** Whether the main thread was still busy after the deadline, so that the gateway was killed. */
  readonly hasHung: boolean;
}

const MiB = 1024 * 1024;

export interface Metric {
  readonly name: 'turn' | 'cpu' | 'calls' | 'read' | 'kept';
  readonly label: string;
  readonly unit: string;
  readonly bound: number;
  /** Whether it is a time, which a slow or busy machine alone makes longer. */
  readonly isTime: boolean;
  of(cost: Cost): number;
}

const perUnit = (value: number, { units }: Cost): number => value / Math.max(1, units);

/**
 * The bounds of a request's cost. `read` follows from the price, a unit for each started MiB; what a node still sends of
 * an answer that is refused counts, too. Memory counts above what an entry of the cache takes anyway.
 */
export const METRICS: readonly Metric[] = [
  { name: 'turn', isTime: true, label: 'turn', unit: ' ms', bound: 20, of: ({ turnMs }) => turnMs },
  { name: 'cpu', isTime: true, label: 'CPU/unit', unit: ' ms', bound: 20, of: (cost) => perUnit(cost.cpuMs, cost) },
  { name: 'calls', isTime: false, label: 'calls/unit', unit: '', bound: 12, of: (cost) => perUnit(cost.calls, cost) },
  {
    name: 'read',
    isTime: false,
    label: 'read/unit',
    unit: ' MiB',
    bound: 1.5,
    of: (cost) => perUnit(cost.readBytes / MiB, cost),
  },
  {
    name: 'kept',
    isTime: false,
    label: 'kept/unit',
    unit: ' MiB',
    bound: 2,
    of: (cost) => perUnit(cost.keptBytes / MiB, cost),
  },
];

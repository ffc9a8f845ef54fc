/** The state of the network in a frame: what the widget uses of it. */
export interface Snapshot {
  readonly slot: number;
  readonly blockHeight: number | null;
  readonly epoch: number;
  readonly epochProgress: number;
  readonly tps: number | null;
  readonly nonVoteTps: number | null;
  readonly slotTimeMs: number | null;
  readonly priorityFee: number | null;
  readonly health: 'ok' | 'degraded';
  readonly seq: number;
  readonly stream: string;
}

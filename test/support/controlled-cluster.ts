import { randomBytes } from 'node:crypto';
import { createGenesis } from '../../src/localnet/cluster-genesis.ts';
import {
  type InThreadCluster,
  type LocalClusterOptions,
  startInThreadCluster,
} from '../../src/localnet/in-thread-cluster.ts';
import { systemClock } from '../../src/shared/runtime/system-clock.ts';

/** Starts a cluster in this thread, at the time of the system, whose faults the test controls. */
export const startControlledCluster = (slotMs: number, options: LocalClusterOptions): Promise<InThreadCluster> =>
  startInThreadCluster(systemClock, createGenesis(randomBytes(32), systemClock.now(), slotMs), options);

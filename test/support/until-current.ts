import { COMMITMENTS } from '../../src/shared/domain/commitment.ts';
import type { SteppedHarness } from './harness.ts';

/** Moves the cluster on until what the gateway keeps warm is of the node's present slots, so that both answer alike. */
export async function untilCurrent({ rpc, step, cluster }: SteppedHarness): Promise<void> {
  const isCurrent = async (commitment: (typeof COMMITMENTS)[number]): Promise<boolean> => {
    const params = [{ commitment }];
    const { result: slot } = (await rpc({ method: 'getSlot', params })).json;
    const { result: epoch } = (await rpc<{ absoluteSlot: number } | null>({ method: 'getEpochInfo', params })).json;
    return slot === cluster.chain.slot(commitment) && epoch?.absoluteSlot === slot;
  };
  while (!(await Promise.all(COMMITMENTS.map(isCurrent))).every(Boolean)) await step();
}

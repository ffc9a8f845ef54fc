import type { Slot } from '../domain/answer.ts';
import { GatewayError } from '../domain/error.ts';
import type { Mesh, Reading } from './mesh.ts';

/** Whether something can be had from the cluster, and at which slot that was so. */
export interface Existence {
  readonly slot: Slot;
  readonly exists: boolean;
}

const CONFIRMED = { commitment: 'confirmed' } as const;

const VERSION_NOT_ASKED_FOR = -32015;

/** Skipped, not there yet, or not kept any more. */
const NO_BLOCK: ReadonlySet<number> = new Set([-32007, -32009, -32004, -32014, -32001, -32011]);

/** Whether a transaction is known. */
export const transactionExists = (mesh: Mesh, signature: string): Promise<Existence> =>
  existence(
    mesh,
    () => {
      const config = { ...CONFIRMED, encoding: 'base64', maxSupportedTransactionVersion: 1 };
      return mesh.call('getTransaction', [signature, config], CONFIRMED);
    },
    (code) => (code === VERSION_NOT_ASKED_FOR ? true : undefined),
  );

/** Whether a slot has a block that the cluster still keeps. */
export async function blockExists(mesh: Mesh, slot: bigint): Promise<Existence> {
  const tip = mesh.tip('confirmed');
  if (tip !== undefined && slot > BigInt(tip)) return { slot: tip, exists: false };
  const read = () => mesh.call('getBlockTime', [slot], CONFIRMED);
  return existence(mesh, read, (code) => (NO_BLOCK.has(code) ? false : undefined));
}

/** Reads; a refusal whose number `means` something is an answer too, at the newest slot known before it was asked. */
async function existence(
  mesh: Mesh,
  read: () => Promise<Reading>,
  means: (rpcCode: number) => boolean | undefined,
): Promise<Existence> {
  const before = mesh.tip('confirmed');
  try {
    const { slot, value } = await read();
    return { slot, exists: value.toString('latin1') !== 'null' };
  } catch (thrown) {
    const exists = thrown instanceof GatewayError && thrown.rpcCode !== undefined ? means(thrown.rpcCode) : undefined;
    if (exists === undefined || before === undefined) throw thrown;
    return { slot: before, exists };
  }
}

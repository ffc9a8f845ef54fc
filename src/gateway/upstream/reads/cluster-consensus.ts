import type { ClusterConsensus } from '../../../shared/domain/cluster-consensus.ts';
import { OPEN_OBJECT } from '../json/json-scanner.ts';
import { member, parseU64 } from '../json/raw-json.ts';
import type { RpcCaller } from '../rpc/rpc-response.ts';

/**
 * Reads the consensus of the cluster by the certificate of its first Alpenglow block, which is null under Tower. Returns
 * null where no node says it: one without the method, as those before Agave 4.2, may be of either kind of cluster.
 * https://solana.com/docs/rpc/http/getaggenesiscert
 */
export async function readClusterConsensus(rpc: RpcCaller): Promise<ClusterConsensus | null> {
  try {
    const { result } = await rpc.call('getAgGenesisCert');
    if (result.toString('latin1', 0, 5) === 'null') return 'tower';
    const block = result[0] === OPEN_OBJECT ? member(result, 'block') : undefined;
    parseU64(block?.[0] === OPEN_OBJECT ? member(block, 'slot') : undefined);
    return 'alpenglow';
  } catch {
    return null;
  }
}

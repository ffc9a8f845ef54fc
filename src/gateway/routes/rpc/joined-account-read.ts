import type { Slot } from '../../../shared/domain/slot.ts';
import { concatInTurns } from '../../../shared/runtime/concat-in-turns.ts';
import { isBase58Of } from '../../../transactions/index.ts';
import { member } from '../../upstream/json/raw-json.ts';
import type { AccountQuery, BatchedRead, EncodedQuery } from '../../upstream/reads/account-batcher.ts';
import type { RequestScope } from '../routing/request-scope.ts';
import type { SerializedAnswer, Uses } from '../routing/route.ts';
import { commitmentOfCall, hasOnlyStandardConfig, type RpcCall } from './parse-rpc-call.ts';

type JoinedQuery = AccountQuery | EncodedQuery;

/** Reads the account of a call together with those of other requests; undefined for a call that is made alone. */
export function readJoined(
  call: RpcCall,
  floor: Slot,
  { accounts }: Uses<'accounts'>,
  { cost }: RequestScope,
): Promise<SerializedAnswer> | undefined {
  const shape = shapeOf(call);
  const [address] = call.params;
  if (shape === undefined || typeof address !== 'string' || !isBase58Of(address, 32)) return undefined;
  const minContextSlot = floor > 0 ? floor : undefined;
  const query = { address, shape, commitment: commitmentOfCall(call), minContextSlot, cost };
  return accounts.read(query).then(async (read) => ({ slot: read.slot, result: await resultOf(read, shape) }));
}

/** Returns how the account of a call is read with those of others. A node validates the parameters of other calls. */
function shapeOf({ method, params: [, config = {}, ...more] }: RpcCall): JoinedQuery['shape'] | undefined {
  if (typeof config !== 'object' || config === null || more.length > 0) return undefined;
  if (method === 'getBalance') return hasOnlyStandardConfig([config]) ? 'lamports' : undefined;
  if (method !== 'getAccountInfo' || !('encoding' in config)) return undefined;
  const { encoding, ...rest } = config;
  if (!hasOnlyStandardConfig([rest])) return undefined;
  return encoding === 'jsonParsed' ? 'parsed' : encoding === 'base64' ? 'base64' : undefined;
}

/** Writes the result as the node would have alone: its own bytes around its own value. */
function resultOf(
  { account, frame: [before, after] }: BatchedRead,
  shape: JoinedQuery['shape'],
): Buffer | Promise<Buffer> {
  const isBalance = shape === 'lamports';
  const ofNode = isBalance && account !== null ? member(account, 'lamports') : account;
  const value = ofNode ?? Buffer.from(isBalance ? '0' : 'null');
  const parts = [before, value, after];
  return value.length > LONG_VALUE ? concatInTurns(parts) : Buffer.concat(parts);
}

/** The length from which a value is copied in turns of the event loop. */
const LONG_VALUE = 256 * 1024;

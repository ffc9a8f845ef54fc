import type { Slot } from '../../../shared/domain/slot.ts';
import { concatInTurns } from '../../../shared/runtime/concat-in-turns.ts';
import { making, type Waiter } from '../../../shared/runtime/waiter.ts';
import { isAddress } from '../../../transactions/index.ts';
import { member } from '../../upstream/json/raw-json.ts';
import type { AccountQuery, BatchedRead, EncodedQuery } from '../../upstream/reads/account-batcher.ts';
import type { RequestScope } from '../routing/request-scope.ts';
import type { SerializedAnswer, Uses } from '../routing/route.ts';
import { commitmentOfCall, hasOnlyStandardConfig, type RpcCall } from './parse-rpc-call.ts';

type JoinedQuery = AccountQuery | EncodedQuery;

/** Reads the account of a call together with those of other requests. Returns false for a call that is made alone. */
export function readJoined(
  call: RpcCall,
  floor: Slot,
  { accounts }: Uses<'accounts'>,
  { cost }: RequestScope,
  waiter: Waiter<SerializedAnswer>,
): boolean {
  const shape = shapeOf(call);
  const [address] = call.params;
  if (shape === undefined || !isAddress(address)) return false;
  const minContextSlot = floor > 0 ? floor : undefined;
  const query = { address, shape, commitment: commitmentOfCall(call), minContextSlot, cost };
  accounts.readTo(
    query,
    making((read) => answerOf(read, shape), waiter),
  );
  return true;
}

function answerOf(read: BatchedRead, shape: JoinedQuery['shape']): SerializedAnswer | Promise<SerializedAnswer> {
  const { slot } = read;
  const parts = partsOf(read, shape);
  if (lengthOf(parts) <= LONG_VALUE) return { slot, result: Buffer.concat(parts) };
  return concatInTurns(parts).then((result) => ({ slot, result }));
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

/** Returns the result as the node would have written it alone: its own bytes around its own value. */
function partsOf({ account, frame: [before, after] }: BatchedRead, shape: JoinedQuery['shape']): readonly Buffer[] {
  const isBalance = shape === 'lamports';
  const ofNode = isBalance && account !== null ? member(account, 'lamports') : account;
  return [before, ofNode ?? Buffer.from(isBalance ? '0' : 'null'), after];
}

const lengthOf = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0);

/** The length from which a result is copied in turns of the event loop. */
const LONG_VALUE = 256 * 1024;

import type { Slot } from '../../../shared/domain/slot.ts';
import { elements, member, parseString } from '../../upstream/json/raw-json.ts';
import type { SerializedAnswer } from '../routing/route.ts';
import { hasOnlyStandardConfig, type RpcCall } from './parse-rpc-call.ts';
import { lifetimeOf, type RpcReadRequest, toReadRequest } from './rpc-cache-policy.ts';

/** The longest account (agave, MAX_PERMITTED_DATA_LENGTH). A node refuses to compute more. */
const MAX_ACCOUNT_BYTES = 10 * 1024 * 1024;

/** The bytes that an account counts for besides its data (agave, ACCOUNT_STORAGE_OVERHEAD). */
const ACCOUNT_OVERHEAD_BYTES = 128n;

const RENT_SYSVAR = 'SysvarRent111111111111111111111111111111111';

/** Returns the size of a valid getMinimumBalanceForRentExemption. Any other call is left to a node, which says what is wrong. */
export function accountSizeOf({ method, params: [bytes, ...config] }: RpcCall): number | undefined {
  const isSize = typeof bytes === 'number' && Number.isInteger(bytes) && bytes >= 0 && bytes <= MAX_ACCOUNT_BYTES;
  return method === 'getMinimumBalanceForRentExemption' && isSize && hasOnlyStandardConfig(config) ? bytes : undefined;
}

/** Returns the read of the rent, from which the minimum balance of each size is computed. */
export function toRentRequest(minSlot: Slot): RpcReadRequest {
  const params = [RENT_SYSVAR, { encoding: 'base64' }];
  const request = toReadRequest({ method: 'getAccountInfo', params, jsonRpcId: undefined }, minSlot);
  return { ...request, key: 'rpc rent', policy: lifetimeOf('getMinimumBalanceForRentExemption', 'finalized') };
}

/** Computes the minimum balance of an account from the sysvar: lamports a byte, then the threshold as a double (agave, Rent). */
export function minimumBalance({ result }: SerializedAnswer, bytes: number): string {
  const account = member(Buffer.from(result), 'value') ?? Buffer.alloc(0);
  const [text] = elements(member(account, 'data') ?? Buffer.alloc(0));
  const data = Buffer.from(parseString(text), 'base64');
  const lamports = (ACCOUNT_OVERHEAD_BYTES + BigInt(bytes)) * data.readBigUInt64LE(0);
  return String(BigInt(Math.trunc(Number(lamports) * data.readDoubleLE(8))));
}

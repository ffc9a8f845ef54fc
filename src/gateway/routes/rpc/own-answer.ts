import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { Slot } from '../../../shared/domain/slot.ts';
import { RENT_SYSVAR } from '../../../shared/domain/well-known-addresses.ts';
import { elements, member, parseBase64 } from '../../upstream/json/raw-json.ts';
import type { SerializedAnswer } from '../routing/route.ts';
import { commitmentOfCall, hasOnlyStandardConfig, type RpcCall } from './parse-rpc-call.ts';
import { lifetimeOf, type RpcReadRequest, toReadRequest } from './rpc-cache-policy.ts';

/** The longest account (agave, MAX_PERMITTED_DATA_LENGTH). A node refuses to compute more. */
const MAX_ACCOUNT_BYTES = 10 * 1024 * 1024;

/** The bytes that an account counts for besides its data (agave, ACCOUNT_STORAGE_OVERHEAD). */
const ACCOUNT_OVERHEAD_BYTES = 128n;

/** The bytes of the sysvar of which a balance is computed. */
const RENT_BYTES = 16;

/** Returns the size of a valid getMinimumBalanceForRentExemption. Any other call is left to a node, which says what is wrong. */
export function accountSizeOf({ method, params: [bytes, ...config] }: RpcCall): number | undefined {
  const isSize = typeof bytes === 'number' && Number.isInteger(bytes) && bytes >= 0 && bytes <= MAX_ACCOUNT_BYTES;
  return method === 'getMinimumBalanceForRentExemption' && isSize && hasOnlyStandardConfig(config) ? bytes : undefined;
}

/** Returns the read of the rent at the commitment of a call, from which the minimum balance of each size is computed. */
export function toRentRequest(call: RpcCall, minSlot: Slot): RpcReadRequest {
  const commitment = commitmentOfCall(call);
  const params = [RENT_SYSVAR, { encoding: 'base64', commitment }];
  const request = toReadRequest({ method: 'getAccountInfo', params, jsonRpcId: undefined }, minSlot);
  return {
    ...request,
    key: `rpc rent ${commitment}`,
    policy: lifetimeOf('getMinimumBalanceForRentExemption', commitment),
    check: checkRent,
  };
}

/** Throws `upstream_error` for a rent from which not every balance can be computed. */
const checkRent = (rent: SerializedAnswer): void => void minimumBalance(rent, MAX_ACCOUNT_BYTES);

/** Computes the minimum balance of an account from the sysvar: lamports a byte, then the threshold as a double (agave, Rent). Throws `upstream_error`. */
export function minimumBalance({ result }: SerializedAnswer, bytes: number): string {
  const account = member(Buffer.from(result), 'value') ?? Buffer.alloc(0);
  const [text = Buffer.from('""')] = elements(member(account, 'data') ?? Buffer.alloc(0));
  const data = parseBase64(text);
  if (data.length < RENT_BYTES) throw noRent();
  const lamports = (ACCOUNT_OVERHEAD_BYTES + BigInt(bytes)) * data.readBigUInt64LE(0);
  const balance = Number(lamports) * data.readDoubleLE(8);
  if (!(balance >= 0 && balance < 2 ** 64)) throw noRent(); // NaN, too
  return String(BigInt(Math.trunc(balance)));
}

const noRent = (): GatewayError => new GatewayError('upstream_error', 'a node returned something else than the rent');

import { GatewayError } from '../domain/error.ts';
import { member, safeInteger, text } from './raw-json.ts';

/**
 * Why a read failed, as far as it decides what to do next. `caller`: asked wrongly. `fact`: a true answer about the
 * chain. `not-yet`: this node isn't there yet. `node-limit`: this node never can. `rate-limit`: it wants fewer
 * requests. `transport`: it didn't answer. The last four may go better with another node.
 */
export type Fault = 'caller' | 'fact' | 'not-yet' | 'node-limit' | 'rate-limit' | 'transport';

/** The node's numbers that mean something to us; any other is a `transport` fault, 502. */
const REFUSALS: ReadonlyMap<number, { readonly fault: Fault; readonly status: number }> = new Map([
  [-32600, { fault: 'caller', status: 400 }], // invalid request
  [-32602, { fault: 'caller', status: 400 }], // invalid params
  [-32015, { fault: 'caller', status: 400 }], // transaction version not asked for
  [-32601, { fault: 'node-limit', status: 502 }], // method not found
  [-32007, { fault: 'node-limit', status: 404 }], // slot skipped, or lost when this node jumped to a snapshot
  [-32009, { fault: 'fact', status: 404 }], // slot skipped, or missing in long-term storage
  [-32020, { fault: 'fact', status: 404 }], // `before` or `until` not found
  [-32001, { fault: 'node-limit', status: 404 }], // block cleaned up: another node may keep it
  [-32011, { fault: 'node-limit', status: 404 }], // keeps no transaction history
  [-32010, { fault: 'node-limit', status: 502 }], // key excluded from its indexes
  [-32012, { fault: 'node-limit', status: 502 }], // scan aborted
  [-32019, { fault: 'node-limit', status: 502 }], // long-term storage unreachable
  [-32004, { fault: 'not-yet', status: 404 }], // block not available
  [-32014, { fault: 'not-yet', status: 404 }], // block status not available yet
  [-32005, { fault: 'not-yet', status: 503 }], // node is behind
  [-32016, { fault: 'not-yet', status: 503 }], // minContextSlot not reached
]);

const RATE_LIMIT = 429;
const NODE_BEHIND = -32005;
const NOT_REACHED = -32016;

/** The error that stands for the `error` member of a node's answer. `scrub` makes the node's text fit to be shown. */
export function refusal(error: Buffer, scrub: (text: string) => string, retryAfter: number): GatewayError {
  const code = safeInteger(member(error, 'code'));
  const said = text(member(error, 'message'));
  if (code === RATE_LIMIT || (code === NODE_BEHIND && isAboutRate(error, said))) return slowDown(retryAfter);
  return new GatewayError('rpc_error', `${code}: ${scrub(said)}`, {
    status: REFUSALS.get(code)?.status ?? 502,
    rpcCode: code,
  });
}

/** The node wants fewer requests, said over HTTP or in JSON. `retryAfter` in whole seconds. */
export const slowDown = (retryAfter: number): GatewayError =>
  new GatewayError('upstream_unavailable', 'the nodes ask for fewer requests', { retryAfter, rpcCode: RATE_LIMIT });

/** What a node says itself that is held to a slot: for the methods that can't be. */
export const notReached = (): GatewayError =>
  new GatewayError('rpc_error', `${NOT_REACHED}: Minimum context slot has not been reached`, {
    status: 503,
    rpcCode: NOT_REACHED,
  });

/** Which {@link Fault} an error of a read is. */
export function faultOf({ code, rpcCode }: GatewayError): Fault {
  if (code === 'overloaded' || code === 'result_too_large') return 'caller'; // another node would fare no better
  if (rpcCode === RATE_LIMIT) return 'rate-limit';
  return (rpcCode !== undefined && REFUSALS.get(rpcCode)?.fault) || 'transport';
}

/** Some providers use the number of a node that is behind to say that one asks too much. */
function isAboutRate(error: Buffer, said: string): boolean {
  const data = member(error, 'data');
  const behind = data?.[0] === 0x7b && member(data, 'numSlotsBehind') !== undefined; // 0x7b: an object
  return !behind && /rate|limit/i.test(said);
}

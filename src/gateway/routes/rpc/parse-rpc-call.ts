import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { isReadMethod, type ReadMethod, type RpcProfile } from '../../../shared/domain/rpc-methods.ts';
import { elements, member } from '../../upstream/json/raw-json.ts';
import { commitmentOf } from '../../upstream/rpc/response-slot.ts';
import { parseJsonBody } from '../routing/parse-json-body.ts';
import { refusalOf } from './refused-methods.ts';

/** A validated call. Only {@link parseRpcCall} creates it. */
export interface RpcCall {
  readonly method: ReadMethod;
  readonly params: readonly unknown[];
  /** The id of a JSON-RPC call, as JSON text. Undefined for a call in the plain form, without `jsonrpc`. */
  readonly jsonRpcId: string | undefined;
}

/** The members of a body that are used. Each is checked before. */
interface RpcBody {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** Maximum number of values in a body. The longest call, getSignatureStatuses, names 256 signatures. */
const MAX_VALUES = 2000;

/** Calls that one body names. What one of them is refused for stands in its place. */
export interface RpcBatch {
  readonly calls: readonly (RpcCall | GatewayError)[];
}

export type RpcRequest = RpcCall | RpcBatch;

const MAX_BATCH = 100;

/** Parses a body: a call, or a batch of JSON-RPC calls. Throws unless the method of a call is one of the profile's. */
export function parseRpcBody(body: Buffer, profile: RpcProfile): RpcRequest {
  const request = parseJsonBody(body, MAX_VALUES);
  if (!Array.isArray(request)) return parseRpcCall(request, body, profile);
  if (request.length === 0 || request.length > MAX_BATCH)
    throw new GatewayError('invalid_request', `a batch has 1 to ${MAX_BATCH} calls`);
  const texts = scanned(() => elements(body));
  return { calls: request.map((entry, i) => parseEntry(entry, texts[i] ?? body, profile)) };
}

function parseEntry(entry: unknown, text: Buffer, profile: RpcProfile): RpcCall | GatewayError {
  try {
    const call = parseRpcCall(entry, text, profile);
    if (call.jsonRpcId !== undefined) return call;
    throw new GatewayError('invalid_request', 'each call of a batch needs jsonrpc: "2.0"');
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    return error.jsonRpcId === undefined ? error.forJsonRpc('null') : error;
  }
}

function parseRpcCall(request: unknown, body: Buffer, profile: RpcProfile): RpcCall {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw new GatewayError('invalid_request', 'the body must be one object: {"method": …, "params": […]}');
  }
  if (!Object.hasOwn(request, 'jsonrpc')) return { ...parseCall(request, profile), jsonRpcId: undefined };
  const { jsonrpc, id, method, params }: RpcBody = request;
  let jsonRpcId = 'null';
  try {
    if (isId(id)) jsonRpcId = scanned(() => writtenId(body));
    if (jsonrpc !== '2.0') throw new GatewayError('invalid_request', 'jsonrpc must be "2.0"');
    if (!isId(id)) throw new GatewayError('invalid_request', 'id must be a string, a number or null');
    return { ...parseCall({ method, params: params ?? undefined }, profile), jsonRpcId }; // nodes read null as no parameters
  } catch (thrown) {
    throw GatewayError.from(thrown).forJsonRpc(jsonRpcId);
  }
}

/** Scans a body. Its length is what the scanner refuses: the body is JSON. Throws `invalid_request`. */
function scanned<T>(scan: () => T): T {
  try {
    return scan();
  } catch (cause) {
    throw new GatewayError('invalid_request', 'the body has a number, a name or white space that is too long', {
      cause,
    });
  }
}

/** Returns true for an id of JSON-RPC, or none: a notification, which no node answers, is answered with the id null. */
const isId = (id: unknown): boolean => id === undefined || id === null || ['string', 'number'].includes(typeof id);

/** Returns the id as the body spells it, since a number may have more digits than a double keeps. */
const writtenId = (body: Buffer): string => member(body, 'id')?.toString() ?? 'null';

function parseCall({ method, params = [] }: RpcBody, profile: RpcProfile): Pick<RpcCall, 'method' | 'params'> {
  if (typeof method !== 'string') throw new GatewayError('invalid_request', 'method must be a string');
  if (!isReadMethod(method, profile)) throw new GatewayError('rpc_method_not_allowed', refusalOf(method, profile));
  if (!Array.isArray(params)) throw new GatewayError('invalid_params', 'params must be an array');
  if (!hasOnlySafeNumbers(params))
    throw new GatewayError('invalid_params', 'params contain a number beyond 2^53, which would be rounded');
  return { method, params };
}

/** Returns false if a number is too large for a double to keep every digit. */
function hasOnlySafeNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return typeof value !== 'object' || value === null || Object.values(value).every(hasOnlySafeNumbers);
}

/** Returns the commitment at which a node answers. Unknown names count as the default; the node rejects them. */
export const commitmentOfCall = ({ method, params }: RpcCall): Commitment =>
  commitmentOf(method, params) ?? 'finalized';

/** Returns true if the parameters are a valid `commitment` and `minContextSlot` only. The node validates all others. */
export function hasOnlyStandardConfig([config = {}, ...more]: readonly unknown[]): boolean {
  if (typeof config !== 'object' || config === null || Array.isArray(config) || more.length > 0) return false;
  return Object.entries(config).every(([name, value]) =>
    name === 'commitment'
      ? COMMITMENTS.includes(value)
      : name === 'minContextSlot' && Number.isSafeInteger(value) && value >= 0,
  );
}

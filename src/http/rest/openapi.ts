import { API_PREFIX } from '../../domain/canonical-request.ts';
import type { Envelope } from '../../domain/envelope.ts';
import { ERROR_REFERENCE } from '../../domain/error-reference.ts';
import { ERRORS, type ErrorCode } from '../../domain/gateway-error.ts';
import { BASE_UNITS, NONCE_UNITS } from '../../domain/units.ts';
import type { Param } from '../../routing/params.ts';
import type { PostRoute, Route } from '../../routing/route.ts';
import { jsonSchema } from '../../routing/schemas.ts';
import { JSON_RPC_FORM, jsonRpcCallSchema, jsonRpcResponseSchemas } from './json-rpc-schemas.ts';
import { STREAM_DESCRIPTION } from './stream-description.ts';

/** The errors of a read that needs a node. */
const UPSTREAM_ERRORS: readonly ErrorCode[] = [
  'result_too_large',
  'upstream_unavailable',
  'upstream_error',
  'upstream_timeout',
];

/** The errors that any request may get. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'invalid_query',
  'invalid_nonce',
  'invalid_request',
  'invalid_api_key',
  'invalid_stake_proof',
  'route_not_found',
  'method_not_allowed',
  'uri_too_long',
  'headers_too_large',
  'rate_limited',
  'internal_error',
  'overloaded',
];

/** The errors of each route kind. */
const ERRORS_BY_KIND: Readonly<Record<Route['kind'], readonly ErrorCode[]>> = {
  live: ['upstream_unavailable'],
  local: [],
  read: UPSTREAM_ERRORS,
  post: ['payload_too_large', 'unsupported_media_type'],
};

/** The errors of a JSON-RPC call that have the plain form: those found before its body is read, or can be. */
const REFUSED_PLAINLY: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...COMMON_ERRORS.filter((code) => !['invalid_request', 'internal_error', 'overloaded'].includes(code)),
  ...ERRORS_BY_KIND.post,
  'invalid_slot',
  'invalid_json',
]);

/** The errors of an answer that holds at a slot, those of `X-Min-Slot` included. */
const SLOT_ERRORS: readonly ErrorCode[] = ['invalid_slot', 'stale', 'min_slot_not_reached'];

const integerSchema = { type: 'integer', minimum: 0 };
const patternSchema = (pattern: string): object => ({ type: 'string', pattern });

const RECEIPT_PROPERTIES = {
  v: { const: 1 },
  kid: patternSchema('^[0-9a-f]{16}$'),
  cluster: patternSchema('^[1-9A-HJ-NP-Za-km-z]{32,44}$'),
  request: { type: 'string' },
  status: { const: 200 },
  slot: integerSchema,
  commitment: { enum: ['processed', 'confirmed', 'finalized'] },
  claim: patternSchema('^(exact|observed)/[1-9][0-9]{0,8}$'),
  digest: patternSchema('^[0-9a-f]{64}$'),
  issuedAt: integerSchema,
  nonce: { type: ['string', 'null'] },
  size: integerSchema,
  index: integerSchema,
  path: { type: 'array', items: patternSchema('^[0-9a-f]{64}$') },
  sig: patternSchema('^[0-9a-f]{128}$'),
};

/** The schema of a receipt (proof of serve). */
const RECEIPT_SCHEMA = {
  type: 'object',
  description: 'Proof of serve: an Ed25519 signature over the request, the slot and the digest of the result',
  properties: RECEIPT_PROPERTIES,
  required: Object.keys(RECEIPT_PROPERTIES),
};

const RATE_LIMIT_HEADERS = Object.fromEntries(
  ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'].map((name) => [name, { schema: integerSchema }]),
);

const apiKeyHeader = (name: string, description: string): object => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
});

/** The credentials that lift a caller above the free tier. */
const SECURITY_SCHEMES = {
  apiKey: apiKeyHeader('X-Api-Key', 'An API key; its tier has limits of its own'),
  stakeWallet: apiKeyHeader(
    'X-Stake-Wallet',
    'The address of a wallet, which counts for the lowest balance that it has held for a while',
  ),
  stakeIssued: apiKeyHeader(
    'X-Stake-Issued',
    'The time at which the stake proof was issued, in Unix seconds; it is valid for a day',
  ),
  stakeSignature: apiKeyHeader('X-Stake-Signature', "The wallet's signature of the text of the stake proof, in base58"),
};
const API_KEY = { apiKey: [] };
const STAKE_PROOF = { stakeWallet: [], stakeIssued: [], stakeSignature: [] };

/** Creates the API document (OpenAPI 3.1) from the same declarations that serve the requests. */
export function createOpenApiDocument(routes: readonly Route[], version: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'slotgate',
      version,
      description: 'A read-only gateway over a Solana cluster: cached, signed, live.',
    },
    servers: [{ url: API_PREFIX }],
    paths: {
      ...Object.fromEntries(routes.map((route) => [openApiPathOf(route), operationOf(route)])),
      '/stream': STREAM_PATH,
    },
    components: {
      schemas: {
        Receipt: RECEIPT_SCHEMA,
        ...Object.fromEntries(routes.map((route) => [nameOf(route), resultSchemaOf(route)])),
      },
      securitySchemes: SECURITY_SCHEMES,
    },
    security: [{}, API_KEY, STAKE_PROOF, { ...API_KEY, ...STAKE_PROOF }],
  };
}

const openApiPathOf = ({ path }: Route): string => path.replaceAll(/:(\w+)/g, '{$1}');

/** Returns the name of a route's result: `/address/:addr/portfolio` has an `AddressPortfolio`. */
const nameOf = ({ path }: Route): string =>
  path.replaceAll(/\/:\w+/g, '').replaceAll(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns true if the answers of a route hold at a slot, which they name in `X-Slot`. */
const hasSlot = (route: Route): boolean => (route.kind === 'post' ? route.hasSlot : route.kind !== 'local');

const hasJsonRpcForm = (route: Route): boolean => route.kind === 'post' && route.hasJsonRpcForm;

function operationOf(route: Route): object {
  const method = route.kind === 'post' ? 'post' : 'get';
  const operation = {
    summary: route.summary,
    ...(hasJsonRpcForm(route) && { description: JSON_RPC_FORM }),
    operationId: method + nameOf(route),
    'x-units': pricesOf(route),
    parameters: parametersOf(route),
    ...(route.kind === 'post' && { requestBody: requestBodyOf(route) }),
    responses: {
      200: { description: route.summary, headers: headersOf(route), content: jsonContent(responseSchemaOf(route)) },
      ...(route.envelope === 'signed' && { 304: NOT_MODIFIED_RESPONSE }),
      ...errorResponses(errorsOf(route)),
    },
  };
  return { [method]: operation };
}

/** The price of a request in units of the rate limit. */
interface Prices {
  /** What every request costs, a cache hit too. */
  readonly request: number | string;
  /** What is added for a nonce. */
  readonly nonce?: number;
  /** What is added for the body of a POST. */
  readonly body?: string;
  /** What a miss adds for its work at the upstream. */
  readonly upstream?: string;
  /** What a long answer adds. */
  readonly answer?: string;
}

const UPSTREAM_PRICE =
  '1 for each started 10 calls beyond the first, 1 for each started MiB read beyond the first, 1 for each started 100 token accounts (of a history 1,000), tokens of lists, transactions of a block (with signatures=all 800 at least) or 4 KiB of it, and KiB of transactions beyond the first';

/** Returns what a request for a route costs. */
function pricesOf(route: Route): Prices {
  if (route.kind === 'local') return { request: route.isMetered ? BASE_UNITS : 0 };
  const readsUpstream = route.kind === 'read' || (route.kind === 'post' && route.hasSlot);
  return {
    request: route.unitPrice ?? BASE_UNITS,
    ...(route.envelope === 'signed' && { nonce: NONCE_UNITS }),
    ...(route.kind === 'post' && route.bodyUnitPrice !== undefined && { body: route.bodyUnitPrice }),
    ...(readsUpstream && { upstream: [route.scanUnitPrice ?? [], UPSTREAM_PRICE].flat().join(', ') }),
    ...(readsUpstream && { answer: '1 for each started MiB beyond the first' }),
  };
}

const errorsOf = (route: Route): readonly ErrorCode[] => [
  ...new Set([
    ...COMMON_ERRORS,
    ...ERRORS_BY_KIND[route.kind],
    ...(hasSlot(route) ? SLOT_ERRORS : []),
    ...(route.kind === 'post' && route.hasSlot ? UPSTREAM_ERRORS : []),
    ...(route.errors ?? []),
  ]),
];

function headersOf(route: Route): object {
  const headers = {
    ...RATE_LIMIT_HEADERS,
    ...(hasSlot(route) && SLOT_HEADERS),
    ...(route.envelope === 'signed' && ETAG_HEADER),
    ...(hasJsonRpcForm(route) && { ...RETRY_AFTER_HEADER, ...RPC_ERROR_CODE_HEADER }),
  };
  if (route.kind !== 'local' || route.header === undefined) return headers;
  const { name, description, pattern } = route.header;
  return { ...headers, [name]: { description, schema: patternSchema(pattern) } };
}

const SLOT_HEADERS = {
  'X-Slot': { description: 'The slot at which the result holds', schema: integerSchema },
  'X-Cache': { schema: { enum: ['HIT', 'MISS', 'STALE', 'BYPASS'] } },
};

const ETAG_HEADER = {
  ETag: { description: 'Names the result, whatever slot it is served with', schema: patternSchema('^W/".+"$') },
};

const RETRY_AFTER_HEADER = { 'Retry-After': { description: 'Seconds to wait', schema: integerSchema } };

const LINK_HEADER = {
  Link: {
    description: 'The page about this error: its cause, its cure, and whether a retry may help',
    schema: patternSchema('^</docs#error-[a-z_]+>; rel="help"$'),
  },
};

const RPC_ERROR_CODE_HEADER = {
  'X-Rpc-Error-Code': { description: "The node's code of an `rpc_error`", schema: { type: 'integer' } },
};

const jsonContent = (schema: object): object => ({ 'application/json': { schema } });

function requestBodyOf({ body, hasJsonRpcForm }: PostRoute): object {
  const schema = jsonSchema(body);
  return {
    required: true,
    content: jsonContent(hasJsonRpcForm ? { anyOf: [schema, jsonRpcCallSchema(schema)] } : schema),
  };
}

function parametersOf(route: Route): object[] {
  const params = route.kind === 'post' ? [] : Object.entries<Param<unknown>>(route.params);
  const isSigned = route.envelope === 'signed';
  return [
    ...params.map(([name, { required, schema, description }]) => ({
      name,
      in: route.path.includes(`:${name}`) ? 'path' : 'query',
      required,
      description,
      schema,
      ...('items' in schema && LIST_STYLE),
    })),
    ...(hasSlot(route) ? [MIN_SLOT_PARAMETER] : []),
    ...(isSigned ? [IF_NONE_MATCH_PARAMETER, NONCE_PARAMETER] : []),
  ];
}

/** How a list is written: `addresses=A,B`. */
const LIST_STYLE = { style: 'form', explode: false };

const headerParameter = (name: string, description: string, schema: object): object => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
});

const MIN_SLOT_PARAMETER = headerParameter(
  'X-Min-Slot',
  'The slot at which the answer must hold, or later; after a second without it the error is `min_slot_not_reached`',
  integerSchema,
);

const IF_NONE_MATCH_PARAMETER = headerParameter(
  'If-None-Match',
  'The `ETag` of an earlier answer: as long as its result holds, the response is a 304 with a new receipt',
  { type: 'string' },
);

const NONCE_PARAMETER = headerParameter(
  'X-Receipt-Nonce',
  'Bound into the receipt, which so can be no older than the request; costs one more unit',
  patternSchema('^[A-Za-z0-9_-]{16,64}$'),
);

const NOT_MODIFIED_RESPONSE = {
  description: 'The caller has this very result (`If-None-Match`), which still holds at `X-Slot`',
  headers: {
    ...RATE_LIMIT_HEADERS,
    ...SLOT_HEADERS,
    ...ETAG_HEADER,
    'X-Receipt': {
      description: 'The receipt that a 200 would carry now, as one line of JSON',
      schema: patternSchema('^\\{.*\\}$'),
    },
  },
};

const ENVELOPE_MEMBERS: Readonly<Record<Exclude<Envelope, 'plain'>, readonly string[]>> = {
  signed: ['result', 'slot', 'receipt'],
  anchored: ['result', 'slot'],
  bare: ['result'],
};

/** Returns the schema of a result, under the route's name. */
const resultSchemaOf = ({ result, summary }: Route): object => ({ description: summary, ...jsonSchema(result) });

const referenceTo = (route: Route): object => ({ $ref: `#/components/schemas/${nameOf(route)}` });

/** Returns the schema of a response's body, in the form or the forms that it may have. */
function responseSchemaOf(route: Route): object {
  const schema = plainSchemaOf(route);
  if (!hasJsonRpcForm(route)) return schema;
  const codes = errorsOf(route).filter((code) => !REFUSED_PLAINLY.has(code));
  return { anyOf: [schema, ...jsonRpcResponseSchemas(referenceTo(route), codes)] };
}

/** Returns the schema of the whole body around a route's result. */
function plainSchemaOf(route: Route): object {
  const { envelope } = route;
  const result = referenceTo(route);
  if (envelope === 'plain') return result;
  const members: Readonly<Record<string, object>> = {
    result,
    slot: { ...integerSchema, description: 'The slot at which the result holds' },
    receipt: { $ref: '#/components/schemas/Receipt' },
  };
  const names = ENVELOPE_MEMBERS[envelope];
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, members[name]])),
    required: names,
    additionalProperties: false,
  };
}

/** The statuses of `rpc_error`, which depend on the node's code. */
const RPC_ERROR_STATUSES: readonly number[] = [400, 404, 502, 503];

/** Returns one response per status, each with the error codes that have this status. */
function errorResponses(codes: readonly ErrorCode[]): object {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const statuses = code === 'rpc_error' ? RPC_ERROR_STATUSES : [ERRORS[code].status];
    for (const status of statuses) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${ERROR_REFERENCE[code].meaning}`).join('; '),
        headers: {
          ...RATE_LIMIT_HEADERS,
          ...LINK_HEADER,
          ...((status === 429 || status === 503) && RETRY_AFTER_HEADER),
          ...(codes.includes('rpc_error') && RPC_ERROR_CODE_HEADER),
        },
        content: jsonContent({
          type: 'object',
          properties: { error: { enum: codes }, message: { type: 'string' } },
          required: ['error', 'message'],
          additionalProperties: false,
        }),
      },
    ]),
  );
}

/** The WebSocket stream, of which OpenAPI can describe the handshake only. */
const STREAM_PATH = {
  get: {
    summary: 'The network stream (WebSocket): the current frame on open, then one for each slot',
    description: STREAM_DESCRIPTION,
    operationId: 'getStream',
    'x-units': { request: BASE_UNITS, subscribe: '1 for each address' },
    parameters: [
      { name: 'format', in: 'query', required: false, schema: { enum: ['json', 'msgpack'], default: 'json' } },
      { name: 'interval', in: 'query', required: false, schema: { enum: ['1000', '5000', '10000'] } },
      {
        name: 'receipts',
        in: 'query',
        required: false,
        description: 'Frames with a receipt each, whose request is `SUB` and the target of this stream; JSON only',
        schema: { enum: ['1'] },
      },
      {
        name: 'Sec-WebSocket-Protocol',
        in: 'header',
        required: false,
        description: '`slotgate`, and after a comma the API key of a browser, which can send no `X-Api-Key`',
        schema: { type: 'string' },
      },
    ],
    responses: {
      101: { description: 'A text frame without a `type` is byte for byte the body of GET /network at its slot' },
      ...errorResponses([
        'invalid_request',
        'invalid_query',
        'invalid_nonce',
        'invalid_api_key',
        'invalid_stake_proof',
        'upgrade_required',
        'rate_limited',
        'upstream_unavailable',
        'shutting_down',
      ]),
    },
  },
};

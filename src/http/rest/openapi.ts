import { API_PREFIX } from '../../domain/canonical-request.ts';
import type { Envelope } from '../../domain/envelope.ts';
import { ERRORS, type ErrorCode } from '../../domain/gateway-error.ts';
import type { Param } from '../../routing/params.ts';
import type { Get, Post, Route } from '../../routing/route.ts';
import { jsonSchema } from '../../routing/shapes.ts';

/** What any request may meet. */
const COMMON: readonly ErrorCode[] = [
  'invalid_query',
  'invalid_nonce',
  'invalid_request',
  'invalid_api_key',
  'invalid_stake_proof',
  'route_not_found',
  'method_not_allowed',
  'uri_too_long',
  'rate_limited',
  'internal_error',
];

/** What may come of it when an answer depends on the cluster. */
const BY_KIND: Readonly<Record<Route['kind'], readonly ErrorCode[]>> = {
  live: ['warming_up', 'stale'],
  now: [],
  read: ['stale', 'overloaded', 'upstream_unavailable', 'upstream_error', 'upstream_timeout'],
  post: [
    'payload_too_large',
    'unsupported_media_type',
    'overloaded',
    'upstream_unavailable',
    'upstream_error',
    'upstream_timeout',
  ],
};

const integer = { type: 'integer', minimum: 0 };
const text = (pattern: string): object => ({ type: 'string', pattern });

/** The proof of serve, member for member. */
const RECEIPT = {
  type: 'object',
  description: 'Proof of serve: an Ed25519 signature over the request, the slot and the digest of the result',
  properties: {
    v: { const: 1 },
    kid: text('^[0-9a-f]{16}$'),
    cluster: text('^[1-9A-HJ-NP-Za-km-z]{32,44}$'),
    request: { type: 'string' },
    status: { const: 200 },
    slot: integer,
    commitment: { enum: ['processed', 'confirmed', 'finalized'] },
    claim: text('^(exact|observed)/[1-9][0-9]{0,8}$'),
    digest: text('^[0-9a-f]{64}$'),
    issuedAt: integer,
    nonce: { type: ['string', 'null'] },
    size: integer,
    index: integer,
    path: { type: 'array', items: text('^[0-9a-f]{64}$') },
    sig: text('^[0-9a-f]{128}$'),
  },
  required: ['v', 'kid', 'cluster', 'request', 'status', 'slot', 'commitment', 'claim', 'digest', 'issuedAt', 'nonce'],
};

const LIMIT_HEADERS = Object.fromEntries(
  ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'].map((name) => [name, { schema: integer }]),
);

const header = (name: string, description: string): object => ({ type: 'apiKey', in: 'header', name, description });

/** What a caller may show to get more than the free tier has. */
const CREDENTIALS = {
  apiKey: header('X-Api-Key', 'An API key; its tier has limits of its own'),
  stakeWallet: header('X-Stake-Wallet', 'The address of a wallet, which counts for what it has held for a while'),
  stakeIssued: header('X-Stake-Issued', 'When its proof was issued, in Unix seconds; it is valid for a day'),
  stakeSignature: header('X-Stake-Signature', 'Its signature of the text of the proof, in base58'),
};
const API_KEY = { apiKey: [] };
const STAKE_PROOF = { stakeWallet: [], stakeIssued: [], stakeSignature: [] };

/** The API document (OpenAPI 3.1), made from the same declarations that serve the requests. */
export function openapi(routes: readonly Route[], version: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'slotgate',
      version,
      description: 'A read-only gateway over a Solana cluster: cached, signed, live.',
    },
    servers: [{ url: API_PREFIX }],
    paths: { ...Object.fromEntries(routes.map((route) => [pathOf(route), operations(route)])), '/stream': STREAM },
    components: { schemas: { Receipt: RECEIPT }, securitySchemes: CREDENTIALS },
    security: [{}, API_KEY, STAKE_PROOF, { ...API_KEY, ...STAKE_PROOF }],
  };
}

const pathOf = ({ path }: Route): string => path.replaceAll(/:(\w+)/g, '{$1}');

function operations(route: Route): object {
  const description = {
    summary: route.summary,
    operationId: route.path.replaceAll(/\/:?(\w)/g, (_, letter: string) => letter.toUpperCase()).replaceAll('-', ''),
    responses: {
      200: { description: route.summary, headers: headersOf(route), content: json(dressed(route)) },
      ...(route.envelope === 'signed' && { 304: NOT_MODIFIED }),
      ...errors([...COMMON, 'invalid_nonce', ...BY_KIND[route.kind], ...(route.errors ?? [])]),
    },
  };
  if (route.kind !== 'post') return { get: { ...description, parameters: parametersOf(route) } };
  return { post: { ...description, requestBody: bodyOf(route) } };
}

function headersOf(route: Route): object {
  if (route.kind !== 'now' || route.header === undefined) return LIMIT_HEADERS;
  const { name, description, pattern } = route.header;
  return { ...LIMIT_HEADERS, [name]: { description, schema: text(pattern) } };
}

const json = (schema: object): object => ({ 'application/json': { schema } });

const bodyOf = (route: Post): object => ({ required: true, content: json(jsonSchema(route.body)) });

const parametersOf = (route: Get): object[] => [
  ...Object.entries<Param<unknown>>(route.params).map(([name, { required, schema, description }]) => ({
    name,
    in: route.path.includes(`:${name}`) ? 'path' : 'query',
    required,
    description,
    schema,
  })),
  ...(route.envelope === 'signed' ? [NONCE] : []),
];

const NONCE = {
  name: 'X-Receipt-Nonce',
  in: 'header',
  required: false,
  description: 'Is bound into the receipt, so that it can be no older than the request; counts as two requests',
  schema: text('^[A-Za-z0-9_-]{16,64}$'),
};

const NOT_MODIFIED = {
  description: 'The caller has this very result (`If-None-Match`), which still holds at `X-Slot`',
  headers: {
    ...LIMIT_HEADERS,
    'X-Slot': { schema: integer },
    'X-Receipt': {
      description: 'The receipt that a 200 would carry now, as one line of JSON',
      schema: text('^\\{.*\\}$'),
    },
  },
};

const MEMBERS: Readonly<Record<Exclude<Envelope, 'plain'>, readonly string[]>> = {
  signed: ['result', 'slot', 'receipt'],
  anchored: ['result', 'slot'],
  bare: ['result'],
};

/** The whole body around a route's result. */
function dressed({ envelope, result }: Route): object {
  if (envelope === 'plain') return jsonSchema(result);
  const members: Readonly<Record<string, object>> = {
    result: jsonSchema(result),
    slot: { ...integer, description: 'The slot at which the result holds' },
    receipt: { $ref: '#/components/schemas/Receipt' },
  };
  const names = MEMBERS[envelope];
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, members[name]])),
    required: names,
    additionalProperties: false,
  };
}

/** One response for each status, which lists the codes that it can stand for. */
function errors(codes: readonly ErrorCode[]): object {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(ERRORS[code].status, [...(byStatus.get(ERRORS[code].status) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('; '),
        headers: LIMIT_HEADERS,
        content: json({
          type: 'object',
          properties: { error: { enum: codes }, message: { type: 'string' } },
          required: ['error', 'message'],
          additionalProperties: false,
        }),
      },
    ]),
  );
}

/** A WebSocket, which OpenAPI has no words for beyond the handshake. */
const STREAM = {
  get: {
    summary: 'The network stream (WebSocket): the current frame on open, then one for each slot',
    operationId: 'Stream',
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
    ],
    responses: {
      101: { description: 'Each text frame is byte for byte the body of GET /network at its slot' },
      ...errors([
        'invalid_query',
        'invalid_nonce',
        'invalid_api_key',
        'invalid_stake_proof',
        'upgrade_required',
        'rate_limited',
        'shutting_down',
      ]),
    },
  },
};

import { readFileSync } from 'node:fs';
import { API_PREFIX } from '../../../shared/domain/canonical-request.ts';
import type { Envelope } from '../../../shared/domain/envelope.ts';
import { ERRORS, type ErrorCode } from '../../../shared/domain/gateway-error.ts';
import { BASE_UNITS, NONCE_UNITS } from '../../../shared/domain/units.ts';
import { ERROR_REFERENCE } from '../../../shared/site/error-reference.ts';
import { VECTORS_NAME } from '../../../shared/site/site.ts';
import type { Param } from '../../routes/routing/params.ts';
import type { PostRoute, Route } from '../../routes/routing/route.ts';
import { jsonSchema } from '../../routes/routing/schemas.ts';
import { JSON_RPC_FORM, jsonRpcCallSchema, jsonRpcResponseSchemas, orBatch } from './json-rpc-schemas.ts';

interface Fragments {
  readonly receipt: object;
  /** The schema of the test vectors. */
  readonly vectors: object;
  /** The group of each path, by its first part. */
  readonly tags: Readonly<Record<string, string>>;
  readonly securitySchemes: object;
  /** The credentials that lift a caller above the free tier, or none. */
  readonly security: readonly object[];
  /** Response headers that go together. */
  readonly headers: Readonly<
    Record<
      | 'rateLimit'
      | 'slot'
      | 'etag'
      | 'receipt'
      | 'retryAfter'
      | 'link'
      | 'rpcErrorCode'
      | 'skipped'
      | 'oldestSlot'
      | 'lastKnown',
      object
    >
  >;
  readonly parameters: Readonly<Record<'minSlot' | 'agree' | 'ifNoneMatch' | 'nonce', object>>;
  readonly streamParameters: readonly object[];
  /** The errors that any request may get, and those of reads, of answers that hold at a slot, and of the stream. */
  readonly errors: Readonly<Record<'any' | 'upstream' | 'slot' | 'stream', readonly ErrorCode[]>>;
}

/** Read by the build alone. */
const DATA = new URL('data/', import.meta.url);
const readData = (name: string): string => readFileSync(new URL(name, DATA), 'utf8');
const { receipt, headers, parameters, errors, ...fragments }: Fragments = JSON.parse(readData('openapi.json'));

const ERRORS_BY_KIND: Readonly<Record<Route['kind'], readonly ErrorCode[]>> = {
  live: ['upstream_unavailable'],
  local: [],
  read: errors.upstream,
  post: ['payload_too_large', 'unsupported_media_type'],
};

/** The errors of a JSON-RPC call that have the plain form: those found before its body is read, or can be. */
const REFUSED_PLAINLY: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...errors.any.filter((code) => !['invalid_request', 'internal_error', 'overloaded', 'rate_limited'].includes(code)),
  ...ERRORS_BY_KIND.post,
  'invalid_slot',
  'invalid_json',
]);

const integerSchema = { type: 'integer', minimum: 0 };

/** Creates the API document (OpenAPI 3.1) from the same declarations that serve the requests. */
export function createOpenApiDocument(routes: readonly Route[], version: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'slotgate',
      version,
      description:
        'A read-only gateway over a Solana cluster: cached, signed, live. A read of a kilobyte or more is compressed with `br` or `gzip` from the second request for the same body on.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    externalDocs: { url: DOCS },
    servers: [{ url: API_PREFIX }],
    tags: [...new Set(Object.values(fragments.tags))].map((name) => ({ name })),
    paths: {
      ...Object.fromEntries(routes.map((route) => [route.path.replaceAll(/:(\w+)/g, '{$1}'), operationOf(route)])),
      [`/${VECTORS_NAME}`]: VECTORS_PATH,
      '/stream': STREAM_PATH,
    },
    components: {
      schemas: {
        Receipt: receipt,
        ...Object.fromEntries(routes.map((route) => [nameOf(route), resultSchemaOf(route)])),
      },
      securitySchemes: fragments.securitySchemes,
    },
    security: fragments.security,
  };
}

/** The reference, from where this document is served, also below a prefix. */
const DOCS = '../../docs';

const docsOf = (operationId: string): object => ({ url: `${DOCS}/routes#${operationId}` });

const tagsOf = (path: string): readonly string[] => [fragments.tags[path.split('/')[1] ?? ''] ?? 'Others'];

const nameOf = ({ path }: Route): string =>
  path.replaceAll(/\/:\w+/g, '').replaceAll(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase());

const hasSlot = (route: Route): boolean => (route.kind === 'post' ? route.hasSlot : route.kind !== 'local');

const hasJsonRpcForm = (route: Route): boolean => route.kind === 'post' && route.hasJsonRpcForm;

function operationOf(route: Route): object {
  const method = route.kind === 'post' ? 'post' : 'get';
  const operationId = method + nameOf(route);
  const operation = {
    summary: route.summary,
    description: descriptionOf(route),
    externalDocs: docsOf(operationId),
    operationId,
    tags: tagsOf(route.path),
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

const ENVELOPE_WORDS: Readonly<Record<Envelope, string>> = {
  signed: 'The answer is signed, and holds at its `slot`.',
  anchored: 'The answer holds at its `slot`, and has no receipt.',
  bare: 'The answer has no receipt.',
  plain: 'The answer has neither slot nor receipt.',
};

/** Describes what the summary leaves open: what the answer proves, and what it costs. */
function descriptionOf(route: Route): string {
  const { request, upstream } = pricesOf(route);
  const more = upstream === undefined ? '' : ', and more for what is read from nodes';
  const price = request === 0 ? 'It costs nothing.' : `It costs ${request} unit${more}.`;
  return [ENVELOPE_WORDS[route.envelope], price, hasJsonRpcForm(route) ? `\n\n${JSON_RPC_FORM}` : []].flat().join(' ');
}

interface Prices {
  readonly request: number;
  readonly nonce?: number;
  readonly body?: string;
  readonly batch?: string;
  readonly upstream?: string;
  readonly answer?: string;
}

const UPSTREAM_PRICE =
  '1 for each started 10 calls beyond the first, 1 for each started MiB read beyond the first, 1 for each started 100 token accounts (of a history 1,000), tokens of lists, transactions of a block (with signatures=all 800 at least) or 4 KiB of it, and KiB of transactions beyond the first';

function pricesOf(route: Route): Prices {
  if (route.kind === 'local') return { request: route.isMetered ? BASE_UNITS : 0 };
  const readsUpstream = route.kind === 'read' || (route.kind === 'post' && route.hasSlot);
  return {
    request: BASE_UNITS,
    ...(route.envelope === 'signed' && { nonce: NONCE_UNITS }),
    ...(route.kind === 'post' && { body: '1 for each started 16 KiB beyond the first' }),
    ...(hasJsonRpcForm(route) && { batch: '1 for each call beyond the first' }),
    ...(readsUpstream && { upstream: [route.missUnitPrice ?? [], UPSTREAM_PRICE].flat().join(', ') }),
    ...(readsUpstream && { answer: '1 for each started MiB beyond the first' }),
  };
}

const errorsOf = (route: Route): readonly ErrorCode[] => [
  ...new Set([
    ...errors.any,
    ...ERRORS_BY_KIND[route.kind],
    ...(hasSlot(route) ? errors.slot : []),
    ...(route.kind === 'post' && route.hasSlot ? errors.upstream : []),
    ...(route.errors ?? []),
  ]),
];

function headersOf(route: Route): object {
  const declared = {
    ...headers.rateLimit,
    ...(hasSlot(route) && headers.slot),
    ...(route.envelope === 'signed' && headers.etag),
    ...(route.kind === 'read' && route.pastSlotOf !== undefined && headers.skipped),
    ...(hasJsonRpcForm(route) && { ...headers.retryAfter, ...headers.rpcErrorCode }),
  };
  if (route.kind !== 'local' || route.header === undefined) return declared;
  const { name, description, pattern } = route.header;
  return { ...declared, [name]: { description, schema: { type: 'string', pattern } } };
}

const jsonContent = (schema: object): object => ({ 'application/json': { schema } });

function requestBodyOf({ body, hasJsonRpcForm }: PostRoute): object {
  const schema = jsonSchema(body);
  return {
    required: true,
    content: jsonContent(hasJsonRpcForm ? { anyOf: [schema, ...orBatch(jsonRpcCallSchema(schema))] } : schema),
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
    ...(hasSlot(route) ? [parameters.minSlot] : []),
    ...(params.some(([name]) => name === 'agree') ? [parameters.agree] : []),
    ...(isSigned ? [parameters.ifNoneMatch, parameters.nonce] : []),
  ];
}

/** How a list is written: `addresses=A,B`. */
const LIST_STYLE = { style: 'form', explode: false };

const NOT_MODIFIED_RESPONSE = {
  description: 'The caller has this very result (`If-None-Match`), which still holds at `X-Slot`',
  headers: { ...headers.rateLimit, ...headers.slot, ...headers.etag, ...headers.receipt },
};

const ENVELOPE_MEMBERS: Readonly<Record<Exclude<Envelope, 'plain'>, readonly string[]>> = {
  signed: ['result', 'slot', 'receipt'],
  anchored: ['result', 'slot'],
  bare: ['result'],
};

const resultSchemaOf = ({ result, summary }: Route): object => ({ description: summary, ...jsonSchema(result) });

const referenceTo = (route: Route): object => ({ $ref: `#/components/schemas/${nameOf(route)}` });

function responseSchemaOf(route: Route): object {
  const schema = plainSchemaOf(route);
  if (!hasJsonRpcForm(route)) return schema;
  const codes = errorsOf(route).filter((code) => !REFUSED_PLAINLY.has(code));
  return { anyOf: [schema, ...orBatch(...jsonRpcResponseSchemas(referenceTo(route), codes))] };
}

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
        description: codes
          .map((code) => `[\`${code}\`](${DOCS}/errors#error-${code}): ${ERROR_REFERENCE[code].meaning}`)
          .join('; '),
        headers: {
          ...headers.rateLimit,
          ...headers.link,
          ...((status === 429 || status === 503) && headers.retryAfter),
          ...(codes.includes('rpc_error') && headers.rpcErrorCode),
          ...(codes.includes('slot_not_kept') && headers.oldestSlot),
          ...(codes.includes('unhealthy') && headers.lastKnown),
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

/** The vectors by which the verifier of a receipt can be tested: a file that the build has made. */
const VECTORS_PATH = {
  get: {
    summary: 'Test vectors of receipts: bodies of versions 1 and 2, each step of their proof, and hostile bodies',
    description: 'They prove a verifier of your own. It costs 1 unit.',
    externalDocs: docsOf('getReceiptVectors'),
    operationId: 'getReceiptVectors',
    tags: tagsOf(`/${VECTORS_NAME}`),
    'x-units': { request: BASE_UNITS },
    parameters: [],
    responses: {
      200: {
        description:
          'For each version the key, the vectors, and what signs them; `hostile` names the fault of each body',
        headers: headers.rateLimit,
        content: jsonContent(fragments.vectors),
      },
      ...errorResponses(errors.any),
    },
  },
};

/** The stream, of whose WebSocket OpenAPI can describe the handshake only. */
const STREAM_PATH = {
  get: {
    summary: 'The network stream (WebSocket): the current frame on open, then one for each slot',
    description: readData('stream.md').trim(),
    externalDocs: { url: `${DOCS}/stream` },
    operationId: 'getStream',
    tags: tagsOf('/stream'),
    'x-units': { request: BASE_UNITS, subscribe: '1 for each address' },
    parameters: fragments.streamParameters,
    responses: {
      200: {
        description: 'Events of accounts, to a request with `topics` that is no upgrade',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      101: { description: 'A text frame without a `type` is byte for byte the body of GET /network at its slot' },
      ...errorResponses(errors.stream),
    },
  },
};

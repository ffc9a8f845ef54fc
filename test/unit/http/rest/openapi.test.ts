import { readFileSync } from 'node:fs';
import t from 'tap';
import { ERRORS } from '../../../../src/domain/gateway-error.ts';
import { createOpenApiDocument } from '../../../../src/http/rest/openapi.ts';
import { routes } from '../../../../src/routes/index.ts';
import { TRANSACTION_TYPES } from '../../../../src/solana/programs/transaction-types.ts';

const document: any = createOpenApiDocument(routes, '1.0.0');
const operations: any[] = Object.values(document.paths).flatMap((path: any) => Object.entries(path));

const errorResponses: readonly (readonly [status: number, codes: readonly string[], operationId: string])[] =
  operations.flatMap(([, { responses, operationId }]) =>
    Object.entries<any>(responses)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, { content }]): [number, string[], string] => {
        const { error } = content['application/json'].schema.properties;
        return [Number(status), error.enum, operationId];
      }),
  );

/** Returns the header parameters of a route. */
const headersOf = (path: string, method = 'get'): readonly string[] =>
  document.paths[path][method].parameters.filter((param: any) => param.in === 'header').map(({ name }: any) => name);

t.test('the document and the code name the same errors, at the same statuses', async (t) => {
  const documented = new Map<string, Set<number>>();
  for (const [status, codes] of errorResponses)
    for (const code of codes) documented.set(code, (documented.get(code) ?? new Set()).add(status));
  t.same([...documented.keys()].sort(), Object.keys(ERRORS).sort());
  for (const [code, { status }] of Object.entries(ERRORS)) t.ok(documented.get(code)?.has(status), `${code} ${status}`);
});

t.test('the document, the reference and the code name the same types of transactions', async (t) => {
  const chapter = new URL('../../../../../src/page/docs/chapters/transactions.md', import.meta.url); // from dist/test/…
  const [, paragraph = ''] = /^## Types\n\n(.*?)\n\n/ms.exec(readFileSync(chapter, 'utf8')) ?? [];
  const names = Object.keys(TRANSACTION_TYPES);
  t.same(
    [...paragraph.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
    names,
  );
  const { enum: documented, description } = findTypes(document.components.schemas.Tx);
  t.same(documented, names);
  for (const [name, meaning] of Object.entries(TRANSACTION_TYPES))
    t.ok(description.includes(`- \`${name}\`: ${meaning}`), name);
});

/** Returns the schema of a transaction's type. */
function findTypes(value: any): any {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value.enum?.includes('PROGRAM_UPGRADE')) return value;
  return Object.values(value)
    .map(findTypes)
    .find((found) => found !== undefined);
}

t.test('no response names a code twice, and no two operations have one name', async (t) => {
  for (const [status, codes, operationId] of errorResponses)
    t.equal(new Set(codes).size, codes.length, `${operationId} ${status}`);
  const names = operations.map(([, { operationId }]) => operationId);
  t.equal(new Set(names).size, names.length);
  for (const name of names) t.match(name, /^(get|post)([A-Z][a-z]+)+$/);
  t.ok(
    ['getPriorityFee', 'getAddressPortfolio', 'getTokenHolders', 'getTokenAccounts'].every((id) => names.includes(id)),
  );
});

t.test('routes whose answers hold at a slot take X-Min-Slot, name X-Slot, and may not have reached it', async (t) => {
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    const method = route.kind === 'post' ? 'post' : 'get';
    const { responses } = document.paths[path][method];
    const expected = !['/health', '/pubkey', '/explain'].includes(path);
    const codes = (status: string) => responses[status]?.content['application/json'].schema.properties.error.enum ?? [];
    t.equal(headersOf(path, method).includes('X-Min-Slot'), expected, path);
    t.equal('X-Slot' in responses['200'].headers, expected, path);
    t.equal(codes('503').includes('min_slot_not_reached'), expected, path);
    if (path !== '/block/{slot}') t.equal(codes('400').includes('invalid_slot'), expected, path);
    const isSigned = route.envelope === 'signed';
    t.equal(headersOf(path, method).includes('If-None-Match'), isSigned, path);
    t.equal('304' in responses, isSigned, path);
    t.equal('X-Slot' in (responses['304']?.headers ?? {}), isSigned, path);
  }
});

t.test('results have names, receipts have all their members, and lamports are 64-bit integers', async (t) => {
  const { schemas } = document.components;
  for (const name of ['Balance', 'AddressPortfolio', 'TokenAccounts', 'Block', 'Tx', 'Network'])
    t.ok('properties' in schemas[name] || 'items' in schemas[name] || 'anyOf' in schemas[name], name);
  const { properties } = document.paths['/balance/{addr}'].get.responses['200'].content['application/json'].schema;
  t.equal(properties.result.$ref, '#/components/schemas/Balance');
  t.same(schemas.Receipt.required, Object.keys(schemas.Receipt.properties));
  t.match(schemas.Balance.properties.lamports, { type: 'integer', format: 'int64' });
});

t.test('both forms of /rpc are documented, with the codes that JSON-RPC can carry', async (t) => {
  const { requestBody, responses } = document.paths['/rpc'].post;
  const [plain, jsonRpc] = requestBody.content['application/json'].schema.anyOf;
  t.same(plain.required, ['method']);
  t.same(jsonRpc.required, ['jsonrpc', 'method']);
  const [, result, error] = responses['200'].content['application/json'].schema.anyOf;
  t.same(result.required, ['jsonrpc', 'result', 'id']);
  t.same(error.required, ['jsonrpc', 'error', 'id']);
  const codes: readonly string[] = error.properties.error.properties.data.properties.error.enum;
  for (const code of ['rpc_error', 'min_slot_not_reached', 'invalid_params', 'overloaded']) t.ok(codes.includes(code));
  for (const code of ['invalid_json', 'rate_limited', 'invalid_api_key', 'payload_too_large'])
    t.notOk(codes.includes(code));
});

t.test('exactly the signed routes document the nonce and the signed 304', async (t) => {
  const signed = routes.filter(({ envelope }) => envelope === 'signed').map(({ path }) => path);
  t.ok(signed.length > 10);
  for (const { path } of routes) {
    const operation: any = Object.values(document.paths[path.replaceAll(/:(\w+)/g, '{$1}')])[0];
    const names = (operation.parameters ?? []).map(({ name }: any) => name);
    t.equal(names.includes('X-Receipt-Nonce'), signed.includes(path), path);
    t.same(Object.keys(operation.responses['304']?.headers ?? {}).includes('X-Receipt'), signed.includes(path), path);
  }
});

t.test('every operation documents that it may refuse a nonce', async (t) => {
  for (const [method, { responses, operationId }] of operations) {
    const codes = responses['400'].content['application/json'].schema.properties.error.enum;
    t.ok(codes.includes('invalid_nonce'), `${method} ${operationId}`);
  }
});

t.test('every operation documents that its reader may be owed too many bytes', async (t) => {
  const lacking = operations.filter(([, { responses, operationId }]) => {
    const codes: readonly string[] = responses['503']?.content['application/json'].schema.properties.error.enum ?? [];
    return operationId !== 'getStream' && !(codes.includes('overloaded') && responses['503'].headers['Retry-After']);
  });
  t.same(lacking, []);
});

t.test('every operation names its price', async (t) => {
  const pricesOf = (path: string, method = 'get'): any => document.paths[path][method]['x-units'];
  t.same(
    operations.filter(([, operation]) => operation['x-units']?.request === undefined),
    [],
  );
  t.same(pricesOf('/health'), { request: 0 });
  t.same(pricesOf('/stream'), { request: 1, subscribe: '1 for each address' });
  t.match(pricesOf('/balances'), { request: /10 addresses/, nonce: 1, upstream: /started 10 calls/, answer: /MiB/ });
  t.match(pricesOf('/token/{mint}/holders'), { request: 1, upstream: /^20 for each scan/ });
  t.match(pricesOf('/explain', 'post'), { request: 1, body: /16 KiB/, upstream: undefined });
});

t.test('the document describes the succession signed by the previous key', async (t) => {
  const { description, schema } = document.paths['/pubkey'].get.responses['200'].headers['X-Key-Succession'];
  t.match(description, 'the previous key');
  t.match(`0123456789abcdef;1718900000000;${'0'.repeat(128)}`, new RegExp(schema.pattern));
});

t.test(
  'the document describes API keys and stake proofs, that both are optional, and how they are refused',
  async (t) => {
    const { securitySchemes } = document.components;
    const headers = Object.values<any>(securitySchemes).map(({ name }) => name);
    t.same(headers, ['X-Api-Key', 'X-Stake-Wallet', 'X-Stake-Issued', 'X-Stake-Signature']);
    t.same(document.security[0], {});
    for (const shown of document.security) for (const name of Object.keys(shown)) t.ok(name in securitySchemes, name);
    for (const [, { responses, operationId }] of operations) {
      const codes = responses['401'].content['application/json'].schema.properties.error.enum;
      t.same(codes, ['invalid_api_key', 'invalid_stake_proof'], operationId);
    }
  },
);

t.test('a list is written with commas in one parameter', async (t) => {
  const [list] = document.paths['/balances'].get.parameters;
  t.match(list, { name: 'addresses', in: 'query', required: true, style: 'form', explode: false });
  t.match(list.schema, { type: 'array', minItems: 1, maxItems: 40, uniqueItems: true, items: { type: 'string' } });
});

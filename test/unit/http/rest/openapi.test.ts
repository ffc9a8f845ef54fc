import t from 'tap';
import { createOpenApiDocument } from '../../../../src/http/rest/openapi.ts';
import { routes } from '../../../../src/routes/index.ts';

const document: any = createOpenApiDocument(routes, '1.0.0');
const operations: any[] = Object.values(document.paths).flatMap((path: any) => Object.entries(path));

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

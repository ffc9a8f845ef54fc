import type { ErrorCode } from '../../../shared/domain/gateway-error.ts';

const VERSION = { const: '2.0' };
const ID = { type: ['string', 'number', 'null'], description: 'Sent back as it was written; null if there was none' };

/** Says when a response has JSON-RPC's form. */
export const JSON_RPC_FORM =
  'A body with `jsonrpc` is a JSON-RPC 2.0 call: all that is decided after it was read is a 200 of that form. An array of calls is a batch.';

/** Returns the schemas, and that of an array of what they describe. */
export const orBatch = (...schemas: readonly object[]): readonly object[] => [
  ...schemas,
  { type: 'array', maxItems: 100, items: { anyOf: schemas } },
];

/** Returns the schema of a JSON-RPC call from the schema of the plain body. */
export function jsonRpcCallSchema({
  properties,
  required = [],
}: {
  properties?: object;
  required?: readonly string[];
}): object {
  return {
    type: 'object',
    description: 'A JSON-RPC 2.0 call: its response has that form too',
    properties: { jsonrpc: VERSION, id: ID, ...properties },
    required: ['jsonrpc', ...required],
  };
}

export const jsonRpcResponseSchemas = (result: object, errors: readonly ErrorCode[]): readonly object[] => [
  responseSchema('result', result),
  responseSchema('error', {
    type: 'object',
    properties: {
      code: { type: 'integer', description: 'The code of the node, or one of -32600, -32601, -32602, -32603, -32016' },
      message: { type: 'string' },
      data: {
        type: 'object',
        description: "The node's own, if it has at most 256 bytes: what is no object is in `details`",
        properties: { error: { enum: errors, description: 'The stable code that the plain form has as `error`' } },
        required: ['error'],
      },
    },
    required: ['code', 'message', 'data'],
    additionalProperties: false,
  }),
];

const responseSchema = (name: 'result' | 'error', schema: object): object => ({
  type: 'object',
  properties: { jsonrpc: VERSION, [name]: schema, id: ID },
  required: ['jsonrpc', name, 'id'],
  additionalProperties: false,
});

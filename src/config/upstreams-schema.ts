import * as z from 'zod';
import { ALL_READ_METHODS } from '../shared/domain/rpc-methods.ts';
import { operatorOfUrl } from './operators.ts';

const NODE_EXPECTED =
  'expected a URL, "URL,WEBSOCKET-URL" or an object with url and perhaps ws, id, operator, weight, archival, pooled, methods and geyser';
const METHOD_EXPECTED = 'expected the name of a read method';
const METHODS_EXPECTED = 'expected a list of read methods';
const FEED_EXPECTED = 'expected an object with url and perhaps tokenFile';
const WEIGHT_EXPECTED = 'expected a number from 0.01 to 100';

/** False for a URL with more than a host. */
const isOrigin = (url: string): boolean => !URL.canParse(url) || new URL(url).href === `${new URL(url).origin}/`;

const node = z
  .strictObject(
    {
      id: z
        .string()
        .regex(/^[\w-]{1,32}$/, 'expected up to 32 letters, digits, _ and -')
        .optional()
        .describe('Name of the node in /health and the log; default: node-1, node-2 and so on.'),
      operator: z
        .string()
        .regex(/^[\w.:[\]-]{1,64}$/, 'expected up to 64 letters, digits and . : _ - [ ]')
        .optional()
        .describe(
          'Who runs the node: the nodes of one operator are one voice; default: the last two labels of the host, an address itself, on this machine host and port.',
        ),
      url: z
        .url({
          protocol: /^https?$/,
          abort: true,
          error: 'expected an http:// or https:// URL such as http://localhost:8899',
        })
        .describe('URL of JSON-RPC over HTTP.'),
      ws: z
        .url({ protocol: /^wss?$/, error: 'expected a ws:// or wss:// URL: each further node has a flag of its own' })
        .regex(/^[^,\s]*$/, 'expected one URL: each further node has a flag of its own')
        .optional()
        .describe('URL of pubsub; default: the same host, on the next port if the URL has one.'),
      weight: z
        .exactOptional(z.number(WEIGHT_EXPECTED).min(0.01, WEIGHT_EXPECTED).max(100, WEIGHT_EXPECTED))
        .describe('Share of the reads in proportion to the other nodes; default: 1.'),
      archival: z
        .exactOptional(z.boolean('expected true or false'))
        .describe('Whether the node has the whole ledger; default: false.'),
      pooled: z
        .exactOptional(z.boolean('expected true or false'))
        .describe(
          'Whether many nodes answer behind the URL, so that responses may lag behind notifications; default: false.',
        ),
      methods: z
        .exactOptional(z.array(z.enum(ALL_READ_METHODS, METHOD_EXPECTED), METHODS_EXPECTED).min(1, METHODS_EXPECTED))
        .describe('The only RPC methods to send to the node; default: all.'),
      geyser: z
        .exactOptional(
          z.strictObject(
            {
              url: z
                .url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' })
                .refine(isOrigin, 'expected http://HOST:PORT alone: a key goes into tokenFile')
                .describe('URL of the feed: http://HOST:PORT, or https:// for TLS.'),
              tokenFile: z
                .exactOptional(z.string('expected a path').min(1, 'expected a path'))
                .describe('File with the token that is sent in x-token; default: none.'),
            },
            FEED_EXPECTED,
          ),
        )
        .describe(
          'Geyser gRPC feed of the node (Yellowstone and what is compatible), which keeps accounts live in place of WebSockets while it can be used; default: none.',
        ),
    },
    NODE_EXPECTED,
  )
  .refine(({ url, ws }) => ws !== undefined || new URL(url).port !== '65535', 'expected ws too: no port follows 65535')
  .transform(({ id, operator, url, ws, ...roles }) => ({
    id,
    operator: operator ?? operatorOfUrl(url),
    url: new URL(url).href,
    wsUrl: new URL(ws ?? defaultWebSocketUrl(url)).href,
    ...roles,
  }));

/** A node as it is written: `URL`, `URL,WEBSOCKET-URL`, or an object. */
export type NodeSetting = string | Readonly<z.input<typeof node>>;

/** One node: an object, or a text that gives its URLs. */
export const upstreamNodeSchema = z.preprocess((value) => (typeof value === 'string' ? splitUrls(value) : value), node);

/**
 * The Solana nodes to read from, each `{ id, operator, url, wsUrl, weight, archival, pooled, methods, geyser }`. A node given only by URL
 * gets the usual WebSocket address and an id by its position: ids appear in /health, where no URL may, as it can
 * contain a key.
 */
export const upstreamsSchema = z
  .array(upstreamNodeSchema, 'expected a list of nodes')
  .transform((nodes) => nodes.map((node, index) => ({ ...node, id: node.id ?? `node-${index + 1}` })))
  .refine((nodes) => new Set(nodes.map(({ id }) => id)).size === nodes.length, 'expected ids that differ')
  .describe('The Solana nodes to read from; empty for an embedded cluster.');

/** Splits `URL` or `URL,WEBSOCKET-URL`. */
export function splitUrls(text: string): { url: string; ws?: string } {
  const comma = text.indexOf(',');
  return comma < 0 ? { url: text } : { url: text.slice(0, comma), ws: text.slice(comma + 1) };
}

/**
 * Returns the usual WebSocket address: a validator serves pubsub on the port after its RPC's; a public endpoint, with
 * no port in its URL, on the same.
 */
function defaultWebSocketUrl(rpc: string): string {
  const url = new URL(rpc);
  url.protocol = url.protocol.replace('http', 'ws');
  if (url.port !== '') url.port = String(Number(url.port) + 1);
  return url.href;
}

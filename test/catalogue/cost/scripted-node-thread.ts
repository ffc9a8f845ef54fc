import { createServer, type ServerResponse } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { bodyOf, listenOnLoopback } from '../../support/loopback-server.ts';
import { configOf, type RpcParams } from '../../support/rpc-request.ts';
import { fillerJson, type JsonParts, type NodeScript, scriptedResult } from './node-answers.ts';

// Thread of the scripted node: an HTTP endpoint before the cluster at `workerData` that answers chosen methods by a
// script and counts calls and bytes. A message `{script}` sets the script; `{count: true}` is answered with the counts
// since the last one.

const clusterUrl: string = workerData;
let script: NodeScript = {};
let calls: Record<string, number> = {};
let bytes: Record<string, number> = {};

async function callCluster(body: string): Promise<string> {
  const response = await fetch(clusterUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return await response.text();
}

async function newestSlot(params: RpcParams): Promise<number> {
  const { commitment = 'finalized' } = configOf(params);
  const text = await callCluster(
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot', params: [{ commitment }] }),
  );
  return JSON.parse(text).result;
}

/** Accounts that the gateway itself needs as they are. */
const isOfTheCluster = (address: unknown): boolean => typeof address === 'string' && address.startsWith('Sysvar');

/** Returns the JSON of the requested accounts that are the cluster's own. */
async function readOwnAccounts([wanted, config]: RpcParams): Promise<ReadonlyMap<string, string>> {
  const own = [wanted].flat().filter(isOfTheCluster);
  if (own.length === 0) return new Map();
  const body = { jsonrpc: '2.0', id: 1, method: 'getMultipleAccounts', params: [own, config] };
  const { value } = JSON.parse(await callCluster(JSON.stringify(body))).result;
  // no member is used that is beyond the numbers of JavaScript
  return new Map(own.map((address, i) => [address, JSON.stringify({ ...value[i], rentEpoch: 0 })]));
}

const NO_PARAMS = [] as unknown as RpcParams;

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params?: RpcParams;
}

async function answer({ id, method, params = NO_PARAMS }: Call, body: string): Promise<JsonParts> {
  calls[method] = (calls[method] ?? 0) + 1;
  const scripted = script[method];
  if (scripted === undefined || isOfTheCluster(params[0])) return [await callCluster(body)];
  if (scripted.kind === 'error') {
    const message = fillerJson(scripted.of === 'base58' ? 'base58' : 'text', scripted.messageBytes);
    return [`{"jsonrpc":"2.0","error":{"code":${scripted.code},"message":${message}},"id":${id}}`];
  }
  const own = scripted.kind === 'accounts' ? await readOwnAccounts(params) : new Map<string, string>();
  const slot = await newestSlot(params);
  const { minContextSlot = 0 } = configOf(params);
  if (minContextSlot > slot) {
    const data = `{"contextSlot":${slot}}`;
    return [
      `{"jsonrpc":"2.0","error":{"code":-32016,"message":"Minimum context slot has not been reached","data":${data}},"id":${id}}`,
    ];
  }
  return ['{"jsonrpc":"2.0","result":', ...scriptedResult(scripted, { method, params, slot, own }), `,"id":${id}}`];
}

function send(response: ServerResponse, method: string, parts: JsonParts): void {
  const buffers = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const length = buffers.reduce((sum, part) => sum + part.length, 0);
  bytes[method] = (bytes[method] ?? 0) + length;
  response.setHeader('content-length', length);
  for (const part of buffers) response.write(part);
  response.end();
}

const server = createServer(async (request, response) => {
  try {
    const body = String(await bodyOf(request));
    const call = JSON.parse(body);
    send(response, call.method, await answer(call, body));
  } catch {
    response.destroy(); // the cluster has closed
  }
});
const port = await listenOnLoopback(server);
parentPort?.postMessage({ port });

parentPort?.on('message', (message: { readonly script?: NodeScript; readonly count?: true }) => {
  if (message.script !== undefined) {
    script = message.script;
    parentPort?.postMessage({});
  }
  if (message.count === true) {
    parentPort?.postMessage({ calls, bytes });
    calls = {};
    bytes = {};
  }
});

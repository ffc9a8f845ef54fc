import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { generateApiKey } from '../../src/gateway/access/api-keys/api-key.ts';
import type { EmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { issueKey } from './access/api-key-fixtures.ts';
import { PATIENT_ARGS, startMain, waitUntilListening } from './child-process.ts';
import { type HttpAnswer, httpClient, waitFor } from './harness.ts';
import { bodyOf, listenOnLoopback } from './loopback-server.ts';
import { exchange } from './raw-http.ts';
import { createReceiptKey } from './receipts/receipt-key.ts';
import type { TestScope } from './test-scope.ts';
import { upgradeRequest } from './websocket-peer.ts';

/** Everything that a gateway has written, to be searched for secrets. */
export interface ExposedOutput {
  /** Secrets by owner; each may be disclosed only to that party. */
  readonly secrets: Readonly<Record<'upstream' | 'caller' | 'process', readonly string[]>>;
  readonly outputs: Readonly<Record<'log' | 'shown' | 'title' | 'kept', string>>;
  readonly nodeRequests: readonly string[];
  /** Statuses per API key: a valid one, a well-formed guess, and a malformed one. The last one is that of the stream. */
  readonly statuses: readonly (readonly number[])[];
  readonly exit: number | string;
}

/** Runs a gateway that holds secrets over a node whose errors repeat them, with many failing requests. */
export async function collectExposedOutput(
  scope: TestScope,
  cluster: Pick<EmbeddedCluster, 'url' | 'wsUrl'>,
): Promise<ExposedOutput> {
  const folders = scope.testdir();
  const state = `${folders}/state`;
  mkdirSync(state, { recursive: true });
  const pem = createReceiptKey();
  const seed = Buffer.from(pem.split('\n')[1] ?? '', 'base64').subarray(-32);
  const [valid, guessed] = [await issueKey(state), generateApiKey()];
  const secrets = {
    upstream: ['path5ecretOfTheNode', 'query5ecretOfTheNode', 'socket5ecretOfTheNode'],
    caller: [valid, guessed, valid.slice(8), guessed.slice(8)],
    process: [pem.split('\n')[1] ?? '', seed.toString('hex'), seed.toString('base64')],
  };
  const [path, query, socket] = secrets.upstream;

  const node = await startLeakyNode(cluster.url, `${path}: ${query}`);
  scope.teardown(node.close);
  const upstream = `${node.url}/v2/${path}?api-key=${query},${cluster.wsUrl}/?token=${socket}`;
  const args = ['--port', '0', '--state', state, '--upstream', upstream, ...PATIENT_ARGS];
  const child = startMain(scope, args, { RECEIPT_KEY: pem });
  const { url } = await waitUntilListening(child);
  const { get, rpc } = httpClient(url);

  const responses: string[] = [];
  const statuses: number[][] = [];
  const record = async (response: Promise<HttpAnswer>): Promise<number> => {
    const { status, headers, text } = await response;
    responses.push(JSON.stringify([...headers]), text);
    return status;
  };
  const wallet = 'So11111111111111111111111111111111111111112';
  for (const key of [valid, guessed, `${valid}x`]) {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const requests = [
      get('/slot', { headers }),
      get(`/balance/${wallet}`, { headers }),
      get(`/address/${wallet}/history`, { headers }),
      rpc({ method: 'getSignaturesForAddress', params: [wallet] }, { headers }),
      rpc({ method: 'getClusterNodes' }, { headers }),
    ];
    const ofReads = await Promise.all(requests.map(record));
    const stream = await exchange(url, [upgradeRequest('', { 'Sec-WebSocket-Protocol': `slotgate, ${key}` })]);
    responses.push(stream.text);
    statuses.push([...ofReads, Number(stream.text.slice(9, 12))]);
  }
  for (const open of ['/health', '/pubkey', '/openapi.json', '/network']) await record(get(open));
  const title = existsSync('/proc/self/cmdline') ? readFileSync(`/proc/${child.process.pid}/cmdline`, 'utf8') : '';
  const usage = `${state}/usage.log`;
  await waitFor(() => existsSync(usage), 'usage'); // written a second later
  node.close();
  await record(get('/account/Vote111111111111111111111111111111111111111'));
  child.process.kill('SIGTERM');
  const exit = await child.exit();

  const files = readdirSync(state, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const kept = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
  const outputs = { log: child.stdout() + child.stderr(), shown: responses.join('\n'), title, kept: kept.join('\n') };
  return { secrets, outputs, nodeRequests: node.received, statuses, exit };
}

/** Lists the leaks, each as the place and the beginning of the secret. */
export function findLeaks({ secrets, outputs, nodeRequests }: ExposedOutput): readonly string[] {
  const places: readonly (readonly [where: string, text: string, secrets: readonly string[]])[] = [
    ...Object.entries(outputs).map(([where, text]) => [where, text, Object.values(secrets).flat()] as const),
    ...nodeRequests.map((request) => ['the node', request, [...secrets.caller, ...secrets.process]] as const),
  ];
  return places.flatMap(([where, text, all]) =>
    all.filter((secret) => text.includes(secret)).map((secret) => `${where}: ${secret.slice(0, 12)}`),
  );
}

/** Starts a node that records its requests and whose errors repeat the request and more. */
async function startLeakyNode(clusterUrl: string, more: string) {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    const body = String(await bodyOf(request));
    received.push(`${request.method} ${request.url} ${request.rawHeaders.join(' ')} ${body}`);
    if (body.includes('getSignaturesForAddress')) {
      const { id } = JSON.parse(body);
      const message = `not for http://${request.headers.host}${request.url}, key ${more}`;
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message } }));
      return;
    }
    if (body.includes('getClusterNodes')) {
      response.writeHead(500).end(`no more for ${request.url}`);
      return;
    }
    const passed = await fetch(clusterUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    response.end(await passed.text());
  });
  const port = await listenOnLoopback(server);
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, received, close };
}

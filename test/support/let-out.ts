import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateApiKey } from '../../src/access/api-keys/api-key.ts';
import { apiKeysPath } from '../../src/access/api-keys/api-key-store.ts';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { issue, recordOf } from './access/api-key-fixtures.ts';
import { listening, PATIENT, run } from './child-process.ts';
import { client, type Got, until } from './open.ts';
import type { Place } from './place.ts';

/** All that a gateway has let out, in which secrets are searched for. */
export interface LetOut {
  /** What may be told to nobody but whom it is for, each by who that is. */
  readonly secrets: Readonly<Record<'upstream' | 'caller' | 'process', readonly string[]>>;
  /** What it said, showed and kept, by where. */
  readonly said: Readonly<Record<'log' | 'shown' | 'title' | 'kept', string>>;
  /** What its node got. */
  readonly heard: readonly string[];
  /** The statuses that each API key was answered with: a valid one, a guess, and what is none. */
  readonly statuses: readonly (readonly number[])[];
  readonly exit: number | string;
}

/** Runs a gateway that holds secrets, over a node whose errors repeat them, through a life in which much goes wrong. */
export async function letOut(place: Place): Promise<LetOut> {
  const folders = place.testdir();
  const state = `${folders}/state`;
  for (const folder of [state, `${folders}/cluster`]) mkdirSync(folder, { recursive: true });
  const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const seed = Buffer.from(pem.split('\n')[1] ?? '', 'base64').subarray(-32);
  const [valid, guessed] = [generateApiKey(), generateApiKey()];
  const secrets = {
    upstream: ['path5ecretOfTheNode', 'query5ecretOfTheNode', 'socket5ecretOfTheNode'],
    caller: [valid, guessed, valid.slice(8), guessed.slice(8)],
    process: [pem.split('\n')[1] ?? '', seed.toString('hex'), seed.toString('base64')],
  };
  const [path, query, socket] = secrets.upstream;

  const cluster = await startEmbeddedCluster({ state: `${folders}/cluster`, slotMs: 100, transactionsPerSlot: 1 });
  place.teardown(cluster.close);

  const node = await talkativeNode(cluster.url, `${path}: ${query}`);
  place.teardown(node.close);
  await issue(apiKeysPath(state), recordOf(valid));
  const upstream = `${node.url}/v2/${path}?api-key=${query},${cluster.wsUrl}/?token=${socket}`;
  const main = new URL('../../src/main.js', import.meta.url);
  const child = run(main, ['--port', '0', '--state', state, '--upstream', upstream, ...PATIENT], { RECEIPT_KEY: pem });
  place.teardown(() => child.process.kill('SIGKILL'));
  const { url } = await listening(child);
  const { get, rpc } = client(url);

  const shown: string[] = [];
  const statuses: number[][] = [];
  const ask = async (asking: Promise<Got>): Promise<number> => {
    const { status, headers, text } = await asking;
    shown.push(JSON.stringify([...headers]), text);
    return status;
  };
  const wallet = 'So11111111111111111111111111111111111111112';
  for (const key of [valid, guessed, `${valid}x`]) {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const asked = [
      get('/slot', { headers }),
      get(`/balance/${wallet}`, { headers }),
      get(`/address/${wallet}/history`, { headers }),
      rpc({ method: 'getSignaturesForAddress', params: [wallet] }, { headers }),
      rpc({ method: 'getClusterNodes' }, { headers }),
    ];
    statuses.push(await Promise.all(asked.map(ask)));
  }
  for (const open of ['/health', '/pubkey', '/openapi.json', '/network']) await ask(get(open));
  const title = existsSync('/proc/self/cmdline') ? readFileSync(`/proc/${child.process.pid}/cmdline`, 'utf8') : '';
  const usage = `${state}/usage.log`;
  await until(() => existsSync(usage), 'usage'); // it is written a second later
  node.close();
  await ask(get('/account/Vote111111111111111111111111111111111111111'));
  child.process.kill('SIGTERM');
  const exit = await child.ended();

  const kept = readdirSync(state).map((name) => readFileSync(`${state}/${name}`, 'utf8'));
  const said = { log: child.out() + child.err(), shown: shown.join('\n'), title, kept: kept.join('\n') };
  return { secrets, said, heard: node.heard, statuses, exit };
}

/** Where secrets are that should not be there, each as the place and the beginning of the secret. */
export function leaksIn({ secrets, said, heard }: LetOut): readonly string[] {
  const places: readonly (readonly [where: string, text: string, secrets: readonly string[]])[] = [
    ...Object.entries(said).map(([where, text]) => [where, text, Object.values(secrets).flat()] as const),
    ...heard.map((question) => ['the node', question, [...secrets.caller, ...secrets.process]] as const),
  ];
  return places.flatMap(([where, text, all]) =>
    all.filter((secret) => text.includes(secret)).map((secret) => `${where}: ${secret.slice(0, 12)}`),
  );
}

/** A node that notes all that it gets, and whose errors tell how it was asked, and more that it should not. */
async function talkativeNode(clusterUrl: string, more: string) {
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    heard.push(`${request.method} ${request.url} ${request.rawHeaders.join(' ')} ${body}`);
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, heard, close };
}

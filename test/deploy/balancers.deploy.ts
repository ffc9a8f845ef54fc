import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { request } from 'node:https';
import { promisify } from 'node:util';
import t from 'tap';
import { WebSocket } from 'ws';
import { generateApiKey } from '../../src/gateway/access/api-keys/api-key.ts';
import { apiKeysPath } from '../../src/gateway/access/api-keys/api-key-store.ts';
import { startEmbeddedCluster } from '../../src/localnet/embedded-cluster.ts';
import { findFreePort } from '../../src/shared/runtime/require-free-port.ts';
import { HAPROXY, NGINX, type ReverseProxy, startProxy } from '../catalogue/wire/reverse-proxy.ts';
import { apiKeyRecord, issueKeys } from '../support/access/api-key-fixtures.ts';
import { startGateway, waitFor } from '../support/harness.ts';

const run = promisify(execFile);
const textOf = (name: string): string =>
  readFileSync(new URL(`../../../config/deploy/${name}`, import.meta.url), 'utf8');

/** The addresses at which a gateway is reached. */
interface Address {
  readonly caller: string;
  readonly admin: string;
}

/** Returns the text with what stands in the sample's place of its gateways; fails if it isn't there. */
function replaceOnce(text: string, part: string | RegExp, by: string): string {
  const replaced = text.replace(part, () => by);
  if (replaced === text) throw new Error(`the sample has no ${part}`);
  return replaced;
}

/** A certificate for this machine's address, and its key. */
const certificate = t.testdir();
execFileSync('openssl', [
  ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-days', '2'],
  ...['-subj', '/CN=gateway.example', '-addext', 'subjectAltName=IP:127.0.0.1'],
  ...['-keyout', `${certificate}/privkey.pem`, '-out', `${certificate}/fullchain.pem`],
]);
const [ca, key] = ['fullchain', 'privkey'].map((name) => readFileSync(`${certificate}/${name}.pem`, 'utf8'));
writeFileSync(`${certificate}/slotgate.pem`, `${ca}${key}`);
const certified = (text: string, folder: string): string => {
  if (!text.includes(folder)) throw new Error(`the sample has no ${folder}`);
  return text.replaceAll(folder, certificate);
};

/** The port of a listener that no test needs. */
const plainPort = await findFreePort('127.0.0.1');

const haproxySample = (port: number, gateways: readonly Address[]): string => {
  const sample = replaceOnce(textOf('haproxy.cfg'), 'bind :80\n', `bind 127.0.0.1:${plainPort}\n`);
  const checked = replaceOnce(certified(sample, '/etc/haproxy'), /(?<=default-server check )port \d+ /, '');
  const servers = gateways.map(
    ({ caller, admin }, at) => `  server gateway${at} ${caller} port ${admin.split(':')[1]}\n`,
  );
  return replaceOnce(
    replaceOnce(checked, 'bind :443', `bind 127.0.0.1:${port}`),
    /( {2}server .*\n)+/,
    servers.join(''),
  );
};

const nginxSample = (port: number, gateways: readonly Address[], folder: string): string => {
  const servers = gateways.map(({ caller }) => `  server ${caller} max_fails=1 fail_timeout=5s;\n`).join('');
  const sample = replaceOnce(textOf('nginx.conf'), 'listen 80;', `listen 127.0.0.1:${plainPort};`);
  const placed = replaceOnce(
    certified(sample, '/etc/nginx/slotgate'),
    /( {2}server \S+ max_fails=1 fail_timeout=5s;\n)+/,
    servers,
  );
  return `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error crit;
events { worker_connections 4096; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/temp;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  ${replaceOnce(placed, 'listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)}
}
`;
};

t.test('HAProxy and nginx find no fault in their samples', async (t) => {
  const folder = t.testdir({ 'nginx.conf': nginxSample(8080, [{ caller: '127.0.0.1:8787', admin: '' }], '/tmp') });
  writeFileSync(`${folder}/haproxy.cfg`, certified(textOf('haproxy.cfg'), '/etc/haproxy'));
  await t.resolves(run('haproxy', ['-c', '-f', `${folder}/haproxy.cfg`]));
  const nginx = certified(textOf('nginx.conf'), '/etc/nginx/slotgate');
  const wrapped = `pid ${folder}/pid; events {} http { ${nginx} }`;
  writeFileSync(`${folder}/nginx.conf`, wrapped);
  await t.resolves(run('nginx', ['-t', '-q', '-e', `${folder}/error`, '-c', `${folder}/nginx.conf`]));
});

/** A caller: an API key, or an address of this machine. */
interface Caller {
  readonly key?: string;
  readonly from?: string;
}

interface Reply {
  readonly status: number;
  /** The receipt key of the gateway that answered. */
  readonly kid: string;
  readonly remaining: number;
}

/** Sends one request, on a connection of its own. */
const requestAs = (url: string, { key, from }: Caller): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const headers = key === undefined ? {} : { 'x-api-key': key };
    const options = { agent: false, ca, headers, ...(from !== undefined && { localAddress: from }) } as const;
    request(`${url}/api/v1/slot`, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => (text += more));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          kid: response.statusCode === 200 ? JSON.parse(text).receipt.kid : text,
          remaining: Number(response.headers['x-ratelimit-remaining']),
        }),
      );
    })
      .on('error', reject)
      .end();
  });

/** Returns the receipt key of the gateway that a browser's stream with an API key reaches. */
async function streamKid(url: string, key: string): Promise<string> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/stream?receipts=1`, ['slotgate', key], { ca });
  try {
    return await new Promise<string>((resolve, reject) => {
      socket.on('message', (data) => resolve(JSON.parse(String(data)).receipt.kid));
      socket.on('error', reject);
      socket.on('close', (code, reason) => reject(new Error(`closed with ${code} ${reason}`)));
    });
  } finally {
    socket.terminate();
  }
}

const SAMPLES: readonly [proxy: ReverseProxy, sample: typeof nginxSample][] = [
  [HAPROXY, haproxySample],
  [NGINX, nginxSample],
];

for (const [proxy, sample] of SAMPLES)
  t.test(
    `${proxy.name} keeps each caller on one gateway, and moves only the callers of one that is gone`,
    async (t) => {
      const cluster = await startEmbeddedCluster({ slotMs: 100, transactionsPerSlot: 0 });
      t.teardown(cluster.close);
      const keys = Array.from({ length: 60 }, generateApiKey);
      const open = async (state: string) => {
        await issueKeys(apiKeysPath(state), ...keys.map((key) => apiKeyRecord(key)));
        const { gateway } = await startGateway(t, [`${cluster.url},${cluster.wsUrl}`], {
          state,
          receiptKey: null,
          set: [
            'admin.host=127.0.0.1',
            'admin.port=0',
            'trustedProxies=127.0.0.1',
            ...['free', 'build'].map((tier) => `limits.${tier}.windowSeconds=600`),
            'limits.free.units=100',
          ],
        });
        return gateway;
      };
      const folders = t.testdir({ a: {}, b: {}, c: {} });
      const gateways = await Promise.all(['a', 'b', 'c'].map((name) => open(`${folders}/${name}`)));
      const addresses = gateways.map(({ url, admin }) => ({
        caller: new URL(url).host,
        admin: new URL(admin ?? '').host,
      }));
      const { url, close } = await startProxy(
        { ...proxy, configuration: (port, _, folder) => sample(port, addresses, folder) },
        '',
        ca,
      );
      t.teardown(close);
      const [redirect] = await once(get(`http://127.0.0.1:${plainPort}/docs`), 'response');
      t.match(redirect, { statusCode: 308, headers: { location: /^https:\/\/127\.0\.0\.1(:\d+)?\/docs$/ } });

      const callers: Caller[] = [
        ...keys.map((key) => ({ key })),
        ...Array.from({ length: 20 }, (_, at) => ({ from: `127.0.0.${at + 2}` })),
      ];
      const requestAll = (): Promise<Reply[]> => Promise.all(callers.map((caller) => requestAs(url, caller)));
      const kidsOf = (round: readonly Reply[]): readonly string[] => round.map(({ kid }) => kid);
      const rounds = [await requestAll(), await requestAll(), await requestAll()];
      const home = kidsOf(rounds[0] ?? []);
      t.same(rounds.slice(1).map(kidsOf), [home, home]);
      const kids = new Set(home);
      t.equal(kids.size, 3, 'each gateway has some');
      t.same(
        rounds.map((round) => new Set(round.slice(0, keys.length).map(({ remaining }) => remaining))),
        [499, 498, 497].map((left) => new Set([left])),
        'a limit is counted in one place',
      );
      t.ok(
        rounds[2]?.slice(keys.length).every(({ remaining }) => remaining === 97),
        'by the address of the caller, not that of the proxy',
      );
      t.same(await Promise.all(keys.slice(0, 12).map((key) => streamKid(url, key))), home.slice(0, 12));

      const [gone] = gateways;
      const goneKid = JSON.parse(await (await fetch(`${gone?.url}/api/v1/slot`)).text()).receipt.kid;
      await gone?.close();
      let after: readonly string[] = [];
      await waitFor(async () => {
        const round = await requestAll();
        after = kidsOf(round);
        return round.every(({ status }) => status === 200);
      }, 'an answer to each');
      t.notOk(after.includes(goneKid));
      const moved = after.filter((kid, at) => home[at] !== goneKid && home[at] !== kid);
      t.same(moved, [], 'the others stay where they are');
    },
  );

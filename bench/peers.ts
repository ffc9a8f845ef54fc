import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../src/shared/runtime/require-free-port.ts';
import { Bench, type Contender, interleave, type Sample } from './support/bench.ts';
import { FIRST_BALANCE } from './support/live-accounts.ts';
import { measureLoad, warmUp } from './support/measure-load.ts';
import { startNode } from './support/node-process.ts';
import { type ServedProcess, startGatewayOver, startProgram, startServer } from './support/server-process.ts';
import { makeTemporaryFolder } from './support/temporary-folder.ts';

// A hit beside those of other caches, which hold the very answer of the gateway and limit requests too, and beside a
// server that calls the node for each request. Each has one core. What isn't installed is named.

/** A cache in front of an origin, whose address it is given with the path of the answer. */
interface Peer {
  readonly name: string;
  readonly program: string;
  args(configuration: string): readonly string[];
  configuration(port: number, origin: string, path: string, folder: string): string;
  readonly goal: number;
}

const NGINX: Peer = {
  name: 'nginx proxy_cache HIT, limit_req',
  program: 'nginx',
  args: (file) => ['-c', file],
  goal: 1.3,
  configuration: (port, origin, path, folder) => `
daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error crit;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/temp;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  proxy_cache_path ${folder}/cache keys_zone=answers:10m;
  limit_req_zone $binary_remote_addr zone=callers:10m rate=10000000r/s;
  server {
    listen 127.0.0.1:${port};
    location / {
      limit_req zone=callers burst=1000000 nodelay;
      rewrite ^ ${path} break; proxy_pass http://${origin}; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_cache answers; proxy_cache_valid 200 1h;
      proxy_ignore_headers Cache-Control Expires Vary;
    }
  }
}
`,
};

const HAPROXY: Peer = {
  name: 'HAProxy cache HIT, stick table',
  program: 'haproxy',
  args: (file) => ['-q', '-db', '-f', file],
  goal: 1.2,
  configuration: (port, origin, path) => `
global
  nbthread 1
cache answers
  total-max-size 64
  max-age 3600
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend front
  bind 127.0.0.1:${port}
  stick-table type ip size 100k expire 30s store http_req_rate(10s)
  http-request track-sc0 src
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt 1000000000 }
  http-request cache-use answers
  http-response cache-store answers
  default_backend origin
backend origin
  http-request set-path ${path}
  server one ${origin}
`,
};

process.env['PATH'] += ':/usr/sbin'; // where Debian has both
const bench = new Bench({ rounds: 5, seconds: 3 });
const { rounds, seconds, settings } = bench;
const node = await startNode();
const gateway = await startGatewayOver(node.upstream, { settings });
const bare = await startServer('bench/processes/bare-engine.js', [`${gateway.url}${FIRST_BALANCE}`]);
const calling = await startServer('bench/processes/calling-server.js', [node.upstream.split(',')[0] ?? '']);

const servers: Record<string, ServedProcess> = {
  'slotgate /balance by IP': gateway,
  'node:http that calls the node': calling,
};
for (const peer of [NGINX, HAPROXY]) {
  if (spawnSync(peer.program, ['-v']).error === undefined) servers[peer.name] = await startPeer(peer);
  else bench.note(`${peer.name}: not installed`);
}
const load = { targets: FIRST_BALANCE, seconds };
for (const server of Object.values(servers)) await warmUp(server, load);

bench.title('64 connections, the same answer from all but the last, server and load on a core each');
const contenders = Object.entries(servers).map(([name, server]) => [name, () => measureLoad(server, load)] as const);
const samples: Record<string, Sample[]> = await interleave(rounds, Object.fromEntries(contenders));
bench.figures(samples);
const contender = (name: string): Contender => [name, samples[name] ?? []];
const own = contender('slotgate /balance by IP');
for (const { name, goal } of [NGINX, HAPROXY]) {
  if (samples[name] === undefined) continue;
  bench.ratio('rate', own, contender(name), { atLeast: goal });
  bench.ratio('cpuUs', own, contender(name));
}
bench.ratio('rate', own, contender('node:http that calls the node'));
bench.end();

async function startPeer({ program, args, configuration }: Peer): Promise<ServedProcess> {
  const [folder, port] = [makeTemporaryFolder(), await findFreePort('127.0.0.1')];
  const file = join(folder, 'configuration');
  writeFileSync(file, configuration(port, new URL(bare.url).host, '/cacheable', folder));
  const server = await startProgram([program, ...args(file)], port, FIRST_BALANCE);
  await fetch(`${server.url}${FIRST_BALANCE}`).then((answer) => answer.text());
  bare.process.kill('SIGSTOP'); // only a cache answers now
  const signal = AbortSignal.timeout(2000);
  const isCached = await fetch(`${server.url}${FIRST_BALANCE}`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  );
  bare.process.kill('SIGCONT');
  if (!isCached) throw new Error(`${program} does not cache the answer`);
  return server;
}

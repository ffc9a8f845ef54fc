import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../../src/runtime/require-free-port.ts';
import { waitFor } from '../../support/harness.ts';

/** A reverse proxy in its usual configuration: many clients share few connections to the gateway. */
export interface ReverseProxy {
  readonly name: string;
  /** Returns the command that starts it with a configuration file. */
  command(file: string): readonly string[];
  configuration(port: number, gateway: string, folder: string): string;
}

export const NGINX: ReverseProxy = {
  name: 'nginx',
  command: (file) => ['nginx', '-c', file],
  configuration: (port, gateway, folder) => `
daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error crit;
events { worker_connections 4096; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/temp;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream gateway { server ${gateway}; keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateway; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_request_buffering off; proxy_set_header Host gateway.example;
    }
  }
}
`,
};

export const HAPROXY: ReverseProxy = {
  name: 'haproxy',
  command: (file) => ['haproxy', '-q', '-db', '-f', file],
  configuration: (port, gateway) => `
defaults
  mode http
  option http-keep-alive
  http-reuse always
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend front
  bind 127.0.0.1:${port}
  default_backend gateway
backend gateway
  server one ${gateway} pool-max-conn 8
`,
};

/** Returns whether the proxy is installed. */
export const isInstalled = ({ command }: ReverseProxy): boolean =>
  spawnSync(command('')[0] ?? '', ['-v']).error === undefined;

/** A running proxy before a gateway. */
export interface RunningProxy {
  readonly url: string;
  close(): Promise<void>;
}

export async function startProxy(kind: ReverseProxy, gateway: string): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'wire-'));
  const file = join(folder, 'configuration');
  const port = await findFreePort('127.0.0.1');
  await writeFile(file, kind.configuration(port, gateway, folder));
  const [program = '', ...args] = kind.command(file);
  const process = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}`;
  await waitFor(() => isAnswering(url), kind.name);
  return { url, close: () => stopProcess(process, folder) };
}

const isAnswering = (url: string): Promise<boolean> =>
  fetch(`${url}/api/v1/health`).then(
    ({ ok }) => ok,
    () => false,
  );

async function stopProcess(process: ChildProcess, folder: string): Promise<void> {
  const ended = new Promise((resolve) => process.once('exit', resolve));
  process.kill('SIGKILL');
  await ended;
  await rm(folder, { recursive: true });
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { get as secureGet } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../../src/shared/runtime/require-free-port.ts';
import { waitFor } from '../../support/harness.ts';

/** A reverse proxy in its usual configuration: many clients share few connections to the gateway. */
export interface ReverseProxy {
  readonly name: string;
  /** Returns the command that starts it with a configuration file, at a port. */
  command(file: string, port: number): readonly string[];
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

const APACHE: ReverseProxy = {
  name: 'Apache',
  command: (file) => ['apache2', '-X', '-f', file],
  configuration: (port, gateway, folder) => `
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
DefaultRuntimeDir ${folder}
PidFile ${folder}/pid
ErrorLog ${folder}/error
ServerName gateway.example
User www-data
Group www-data
Listen 127.0.0.1:${port}
ProxyPass / http://${gateway}/
`,
};

const VARNISH: ReverseProxy = {
  name: 'Varnish',
  command: (file, port) => ['varnishd', '-j', 'none', '-F', '-n', `${file}.d`, '-a', `127.0.0.1:${port}`, '-f', file],
  configuration: (_, gateway) => `
vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "${gateway.split(':')[1]}"; }
sub vcl_recv { return (pass); }
`,
};

const CADDY: ReverseProxy = {
  name: 'Caddy',
  command: (file) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
  configuration: (port, gateway) => `
{
  admin off
  auto_https off
  log {
    level ERROR
  }
}
http://:${port} {
  bind 127.0.0.1
  reverse_proxy ${gateway}
}
`,
};

const LIGHTTPD: ReverseProxy = {
  name: 'lighttpd',
  command: (file) => ['lighttpd', '-D', '-f', file],
  configuration: (port, gateway, folder) => `
server.document-root = "${folder}"
server.errorlog = "${folder}/error"
server.bind = "127.0.0.1"
server.port = ${port}
server.modules = ( "mod_proxy" )
proxy.server = ( "" => (( "host" => "127.0.0.1", "port" => ${gateway.split(':')[1]} )) )
`,
};

const SQUID: ReverseProxy = {
  name: 'Squid',
  command: (file) => ['squid', '-N', '-f', file],
  configuration: (port, gateway, folder) => `
http_port 127.0.0.1:${port} accel defaultsite=gateway.example
cache_peer 127.0.0.1 parent ${gateway.split(':')[1]} 0 no-query originserver name=gateway
http_access allow all
cache deny all
access_log none
cache_log ${folder}/cache
pid_filename ${folder}/pid
coredump_dir ${folder}
shutdown_lifetime 0 seconds
pinger_enable off
debug_options ALL,0
`,
};

/** All that the reference names. */
export const PROXIES: readonly ReverseProxy[] = [NGINX, HAPROXY, APACHE, VARNISH, CADDY, LIGHTTPD, SQUID];

export const isInstalled = ({ command }: ReverseProxy): boolean =>
  spawnSync(command('', 0)[0] ?? '', ['-v']).error === undefined;

export interface RunningProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** The times that a proxy is started, since another program may get the free port before it does. */
const MAX_STARTS = 5;

/** Starts a proxy; one with TLS has a certificate that `ca` has signed, for this machine's address. */
export async function startProxy(kind: ReverseProxy, gateway: string, ca?: string): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'wire-'));
  const file = join(folder, 'configuration');
  for (let starts = 0; starts < MAX_STARTS; starts++) {
    const port = await findFreePort('127.0.0.1');
    await writeFile(file, kind.configuration(port, gateway, folder));
    const [program = '', ...args] = kind.command(file, port);
    const process = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const url = `${ca === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
    const hasEnded = (): boolean => process.exitCode !== null;
    await waitFor(async () => hasEnded() || (await isAnswering(url, ca)), kind.name);
    if (!hasEnded()) return { url, close: () => stopProcess(process, folder) };
  }
  throw new Error(`${kind.name} has ended ${MAX_STARTS} times`);
}

const isAnswering = (url: string, ca?: string): Promise<boolean> =>
  new Promise((resolve) => {
    const onResponse = (response: IncomingMessage): void => {
      response.resume();
      resolve(response.statusCode === 200);
    };
    const path = `${url}/api/v1/health`;
    const request = ca === undefined ? get(path, onResponse) : secureGet(path, { ca }, onResponse);
    request.on('error', () => resolve(false));
  });

async function stopProcess(process: ChildProcess, folder: string): Promise<void> {
  const ended = new Promise((resolve) => process.once('exit', resolve));
  process.kill('SIGKILL');
  await ended;
  await rm(folder, { recursive: true });
}

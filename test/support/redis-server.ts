import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../src/shared/runtime/require-free-port.ts';
import { waitFor } from './harness.ts';

const ALL = `
local out = redis.call('KEYS', '*')
for i = 1, #out do
  local kind = redis.call('TYPE', out[i]).ok
  local values = kind == 'hash' and redis.call('HGETALL', out[i]) or { redis.call('GET', out[i]) }
  out[i] = out[i] .. ' ' .. table.concat(values, ' ')
end
return table.concat(out, ' ; ')`;

/** A real Redis in a folder of its own, which writes each change to its log. */
export class RedisServer {
  readonly url: string;
  readonly port: number;
  readonly #folder: string;
  readonly #args: readonly string[];
  #process: ChildProcess | undefined;

  /** Starts one. `args` are settings besides, such as `--requirepass secret`. */
  static async start(args: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(await findFreePort('127.0.0.1'), await mkdtemp(join(tmpdir(), 'redis-')), args);
    await server.restart();
    return server;
  }

  /** Starts one that speaks TLS alone, with a certificate that no authority has signed but itself. */
  static async startWithTls(args: readonly string[] = []): Promise<RedisServer & { readonly certificate: string }> {
    const folder = await mkdtemp(join(tmpdir(), 'redis-'));
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    const name = ['-subj', '/CN=redis', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    execFileSync('openssl', ['req', ...kind, ...name, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
    const port = await findFreePort('127.0.0.1');
    const tls = ['--tls-port', String(port), '--tls-cert-file', certificate, '--tls-key-file', key];
    const server = new RedisServer(port, folder, [...args, '--port', '0', ...tls, '--tls-auth-clients', 'no']);
    await server.restart();
    return Object.assign(server, { certificate });
  }

  private constructor(port: number, folder: string, args: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#args = args;
    this.url = `${args.includes('--tls-port') ? 'rediss' : 'redis'}://127.0.0.1:${port}`;
  }

  /** Starts it again with what its log holds. */
  async restart(): Promise<void> {
    const base = ['--port', String(this.port), '--dir', this.#folder, '--save', '', '--appendonly', 'yes'];
    this.#process = spawn('redis-server', [...base, '--appendfsync', 'always', ...this.#args], { stdio: 'ignore' });
    await waitFor(() => accepts(this.port), 'Redis');
  }

  /** Sends it a signal; resolves when it has ended, unless the signal only stops or continues it. */
  async signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const end = this.#process && once(this.#process, 'exit');
    this.#process?.kill(name);
    if (name === 'SIGKILL') await end;
  }

  /** Runs a command; returns the first lines of its answer as they are on the wire. */
  async command(...words: readonly string[]): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    socket.write(`*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`);
    const [answer] = await once(socket, 'data');
    socket.destroy();
    return String(answer);
  }

  /** Returns all that it has: names and values. */
  contents(): Promise<string> {
    return this.command('EVAL', ALL, '0');
  }

  async close(): Promise<void> {
    await this.signal('SIGCONT');
    if (this.#process?.exitCode === null && this.#process.signalCode === null) await this.signal('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

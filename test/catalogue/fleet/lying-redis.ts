import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Script } from '../../../src/gateway/fleet/transport/redis/redis-connection.ts';
import { listenOnLoopback } from '../../support/loopback-server.ts';

/** Changes the numbers that a script answered. `args` are those of the call, without its keys. */
export type Lie = (numbers: readonly number[], args: readonly string[]) => readonly number[];

interface Call {
  readonly lie: Lie | undefined;
  readonly args: readonly string[];
}

/** A proxy on loopback before a real Redis that changes what some scripts answer. */
export class LyingRedis {
  readonly url: string;
  /** The number of answers that were changed. */
  lied = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #lies = new Map<Script, Lie>();

  static async start(target: number): Promise<LyingRedis> {
    const server = createServer();
    return new LyingRedis(server, await listenOnLoopback(server), target);
  }

  private constructor(server: Server, port: number, target: number) {
    this.#server = server;
    this.url = `redis://127.0.0.1:${port}`;
    server.on('connection', (client) => this.#connect(client, target));
  }

  /** Changes the answers of a script from now on; undefined leaves them as they are. */
  change(script: Script, lie: Lie | undefined): void {
    if (lie === undefined) this.#lies.delete(script);
    else this.#lies.set(script, lie);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #connect(client: Socket, target: number): void {
    const redis = connect(target, '127.0.0.1');
    const calls: Call[] = [];
    const readCalls = valuesOf((command) => calls.push(this.#callOf(wordsIn(command))));
    const readAnswers = valuesOf((answer) => client.write(this.#changed(answer, calls.shift()), 'latin1'));
    for (const [from, to] of [
      [client, redis],
      [redis, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => {}); // it is closed then
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
    client.on('data', (data) => {
      readCalls(data.toString('latin1'));
      redis.write(data);
    });
    redis.on('data', (data) => readAnswers(data.toString('latin1')));
  }

  #callOf([name, script, keyCount, ...rest]: readonly string[]): Call {
    const isScript = name === 'EVAL' || name === 'EVALSHA';
    const [, lie] = [...this.#lies].find(([{ sha, lua }]) => isScript && (script === sha || script === lua)) ?? [];
    return { lie, args: rest.slice(Number(keyCount)) };
  }

  #changed(answer: string, call: Call | undefined): string {
    const numbers = [...answer.matchAll(/:(-?\d+)\r\n/g)].map(([, digits]) => Number(digits));
    if (call?.lie === undefined || numbers.length === 0) return answer; // an error, such as NOSCRIPT
    this.lied++;
    const changed = call.lie(numbers, call.args);
    return `*${changed.length}\r\n${changed.map((number) => `:${number}\r\n`).join('')}`;
  }
}

/** Returns a function that passes on the whole values of a stream of RESP2, whose texts hold a character for each byte. */
function valuesOf(onValue: (value: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    rest += text;
    for (let end = endOfValue(rest, 0); end !== undefined; end = endOfValue(rest, 0)) {
      onValue(rest.slice(0, end));
      rest = rest.slice(end);
    }
  };
}

function endOfValue(text: string, from: number): number | undefined {
  const lineEnd = text.indexOf('\r\n', from);
  if (lineEnd < 0) return undefined;
  const count = Number(text.slice(from + 1, lineEnd));
  let end: number | undefined = lineEnd + 2;
  if (text[from] === '$' && count >= 0) end += count + 2;
  if (text[from] === '*') for (let i = 0; i < count && end !== undefined; i++) end = endOfValue(text, end);
  return end !== undefined && end <= text.length ? end : undefined;
}

/** Returns the words of a command, each of which is a text with its length before it. */
function wordsIn(command: string): readonly string[] {
  const words: string[] = [];
  for (let at = command.indexOf('$'); at >= 0 && at < command.length; ) {
    const start = command.indexOf('\r\n', at) + 2;
    const end = start + Number(command.slice(at + 1, start - 2));
    words.push(command.slice(start, end));
    at = end + 2;
  }
  return words;
}

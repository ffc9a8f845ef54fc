import { connect } from 'node:net';
import { ReadBarrier } from './barrier.ts';

export interface RawResponse {
  readonly status: number;
  /** Status line and header fields, without the empty line that ends them. */
  readonly head: string;
  readonly body: string;
}

export interface RawExchange {
  readonly text: string;
  readonly closed: boolean;
}

export interface ExchangeOptions {
  /** Number of responses, or the end of the connection, to wait for. 0: only those that need no node. */
  readonly responses?: number;
  /** Local address; loopback has many. */
  readonly localAddress?: string;
}

const barriers = new Map<string, ReadBarrier>();

/** The fence of a gateway: all that wait at it share one. */
export function barrierOf(url: string): ReadBarrier {
  const fence = barriers.get(url) ?? new ReadBarrier(url);
  barriers.set(url, fence);
  return fence;
}

/** Writes packets to a gateway, each after it has read the one before, and gives what comes back. */
export async function exchange(
  url: string,
  packets: readonly (string | Buffer)[],
  { responses = 1, localAddress }: ExchangeOptions = {},
): Promise<RawExchange> {
  const { hostname, port } = new URL(url);
  const barrier = barrierOf(url);
  let text = '';
  let closed = false;
  let onChange = (): void => {};
  const socket = connect({ port: Number(port), host: hostname, ...(localAddress !== undefined && { localAddress }) });
  socket.setNoDelay(true).setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
    onChange();
  });
  const end = (): void => {
    closed = true;
    onChange();
  };
  socket.on('end', end).on('error', end).on('close', end);
  await new Promise<void>((resolve) => {
    onChange = resolve;
    socket.once('connect', () => resolve());
  });
  for (const packet of packets) {
    if (closed) break;
    socket.write(packet);
    await barrier.wait();
  }
  while (!closed && countResponses(text) < responses) {
    await new Promise<void>((resolve) => {
      onChange = resolve;
    });
  }
  await barrier.wait();
  socket.destroy();
  return { text, closed };
}

/** Counts the responses that have begun; the engine writes each in one piece. */
const countResponses = (text: string): number => text.match(/HTTP\/1\.1 \d/g)?.length ?? 0;

/** Cuts a stream of bytes into answers by their Content-Length; without one the body goes on to the end. */
export function parseResponses(text: string, isHeadRequest = false): readonly RawResponse[] {
  const responses: RawResponse[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`no whole answer: ${rest}`);
    const head = rest.slice(0, end);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    const [, lengthText = status === 204 ? '0' : 'Infinity'] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
    const length = isHeadRequest ? 0 : Number(lengthText); // an answer to HEAD has a length and no body
    responses.push({ status, head, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
  return responses;
}

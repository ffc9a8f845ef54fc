import { connect } from 'node:net';
import { Fence } from './fence.ts';

/** One HTTP answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** The head, without the empty line that ends it. */
  readonly head: string;
  readonly body: string;
}

/** What came back on a connection. */
export interface Heard {
  readonly text: string;
  readonly closed: boolean;
}

export interface Talk {
  /** So many answers, or the end of the connection, are waited for. 0: what comes without the help of a node. */
  readonly answers?: number;
  /** Of this side; of loopback there are many. */
  readonly localAddress?: string;
}

const fences = new Map<string, Fence>();

/** The fence of a gateway: all who wait at it share one. */
export function fenceOf(url: string): Fence {
  const fence = fences.get(url) ?? new Fence(url);
  fences.set(url, fence);
  return fence;
}

/** Writes packets to a gateway, each after it has read the one before, and gives what comes back. */
export async function exchange(
  url: string,
  packets: readonly (string | Buffer)[],
  { answers = 1, localAddress }: Talk = {},
): Promise<Heard> {
  const { hostname, port } = new URL(url);
  const fence = fenceOf(url);
  let text = '';
  let closed = false;
  let onNews = (): void => {};
  const socket = connect({ port: Number(port), host: hostname, ...(localAddress !== undefined && { localAddress }) });
  socket.setNoDelay(true).setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
    onNews();
  });
  const end = (): void => {
    closed = true;
    onNews();
  };
  socket.on('end', end).on('error', end).on('close', end);
  await new Promise<void>((resolve) => {
    onNews = resolve;
    socket.once('connect', () => resolve());
  });
  for (const packet of packets) {
    if (closed) break;
    socket.write(packet);
    await fence.pass();
  }
  while (!closed && begun(text) < answers) {
    await new Promise<void>((resolve) => {
      onNews = resolve;
    });
  }
  await fence.pass();
  socket.destroy();
  return { text, closed };
}

/** How many answers have begun; the engine writes each in one go. */
const begun = (text: string): number => text.match(/HTTP\/1\.1 \d/g)?.length ?? 0;

/** Cuts a stream of bytes into answers by their Content-Length; without one the body goes on to the end. */
export function answersIn(text: string, toHead = false): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`no whole answer: ${rest}`);
    const head = rest.slice(0, end);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    const [, told = status === 204 ? '0' : 'Infinity'] = /\r\ncontent-length: (\d+)/i.exec(head) ?? [];
    const length = toHead ? 0 : Number(told); // an answer to HEAD has a length and no body
    answers.push({ status, head, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}

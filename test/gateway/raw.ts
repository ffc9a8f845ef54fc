import { connect } from 'node:net';

/** One HTTP answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** The head, without the empty line that ends it. */
  readonly head: string;
  readonly body: string;
}

/** How long nothing must come before a connection that stays open is taken for quiet. */
const QUIET_MS = 250;

/** Writes packets to a port and reads what comes back, until the other side closes or falls quiet. */
export function exchange(
  url: string,
  packets: readonly (string | Buffer)[],
): Promise<{ text: string; closed: boolean }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true).setEncoding('latin1').setTimeout(QUIET_MS);
    const end = (closed: boolean): void => {
      socket.destroy();
      resolve({ text, closed });
    };
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('timeout', () => end(false));
    socket.on('error', () => end(true));
    socket.on('close', () => end(true));
    const [first = '', ...rest] = packets;
    socket.write(first);
    const next = (): void => {
      const packet = rest.shift();
      if (packet === undefined || socket.destroyed) return;
      socket.write(packet);
      setImmediate(next);
    };
    setImmediate(next);
  });
}

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

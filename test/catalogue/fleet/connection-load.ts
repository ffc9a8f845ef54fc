import { connect, type Socket } from 'node:net';

/** What callers of one port have seen. */
export interface ConnectionCounts {
  /** Connections that were opened for one request each, and how many of them were answered. */
  opened: number;
  answered: number;
  /** Those that were refused or reset, by reason. */
  readonly failures: Map<string, number>;
  /** Requests on connections that are kept, and how many of them were cut off without an answer. */
  keptAnswered: number;
  keptCut: number;
  /** Answers with another status than 200. */
  refused: number;
}

/** A load that runs until it is stopped. */
export interface ConnectionLoad {
  readonly counts: ConnectionCounts;
  stop(): Promise<void>;
}

const NEW_AT_ONCE = 16;
const KEPT_AT_ONCE = 24;

/** New connections come from so many addresses of loopback: each has few ports that wait for the end of an old connection. */
const ADDRESSES = 200;

/** Time between two requests on a kept connection. */
const KEPT_PAUSE_MS = 5;

const requestOf = (connection: 'close' | 'keep-alive'): string =>
  `GET /api/v1/slot HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: ${connection}\r\n\r\n`;
const SINGLE = requestOf('close');
const KEPT = requestOf('keep-alive');

/** Opens connections to a gateway all the time, and sends requests over others that it keeps as long as they may be. */
export function startConnectionLoad(url: string): ConnectionLoad {
  const port = Number(new URL(url).port);
  const counts: ConnectionCounts = {
    opened: 0,
    answered: 0,
    failures: new Map(),
    keptAnswered: 0,
    keptCut: 0,
    refused: 0,
  };
  let isOver = false;
  const fail = (reason: string): void => void counts.failures.set(reason, (counts.failures.get(reason) ?? 0) + 1);

  const openOne = (): Promise<void> =>
    new Promise((resolve) => {
      const localAddress = `127.0.0.${2 + (counts.opened++ % ADDRESSES)}`;
      const socket = connect({ port, host: '127.0.0.1', localAddress }, () => socket.write(SINGLE));
      let text = '';
      let failure: string | undefined;
      socket.setEncoding('latin1').on('data', (more: string) => (text += more));
      socket.on('error', (err: NodeJS.ErrnoException) => (failure = err.code ?? err.message));
      socket.on('close', () => {
        const status = statusOf(text);
        if (status === undefined) fail(failure ?? 'closed without an answer');
        else if (status === 200) counts.answered++;
        else counts.refused++;
        resolve();
      });
    });

  /** Sends requests over one connection until the gateway announces its end. */
  const keepOne = (): Promise<void> =>
    new Promise((resolve) => {
      const socket: Socket = connect({ port, host: '127.0.0.1' });
      let text = '';
      let isAsked = false;
      let isConnected = false;
      const ask = (): void => {
        if (isOver) return void socket.destroy();
        if (socket.destroyed) return;
        isAsked = true;
        text = '';
        socket.write(KEPT);
      };
      socket.on('connect', () => {
        isConnected = true;
        ask();
      });
      socket.setEncoding('latin1').on('data', (more: string) => {
        text += more;
        if (!isAsked || !isWhole(text)) return;
        isAsked = false;
        if (statusOf(text) === 200) counts.keptAnswered++;
        else counts.refused++;
        if (/^connection: close/im.test(text)) socket.end();
        else setTimeout(ask, KEPT_PAUSE_MS);
      });
      socket.on('error', () => {}); // it is closed then
      socket.on('close', () => {
        if (isAsked && isConnected) counts.keptCut++;
        if (!isConnected) fail('a connection to keep');
        resolve();
      });
    });

  const untilOver = async (run: () => Promise<void>): Promise<void> => {
    while (!isOver) await run();
  };
  const all = [
    ...Array.from({ length: NEW_AT_ONCE }, () => untilOver(openOne)),
    ...Array.from({ length: KEPT_AT_ONCE }, () => untilOver(keepOne)),
  ];
  return {
    counts,
    async stop() {
      isOver = true;
      await Promise.all(all);
    },
  };
}

const statusOf = (text: string): number | undefined => {
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? [];
  return status === undefined ? undefined : Number(status);
};

const isWhole = (text: string): boolean => {
  const end = text.indexOf('\r\n\r\n');
  const [, length] = /^content-length: (\d+)/im.exec(text) ?? [];
  return end >= 0 && text.length >= end + 4 + Number(length ?? 0);
};

import { SUBPROTOCOL } from '../shared/domain/stream-protocol.ts';

export interface Socket {
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: SocketEvent) => void): void;
}

export interface SocketEvent {
  readonly type?: string;
  readonly data?: unknown;
  readonly code?: number;
}

/** Opens a WebSocket. Only some implementations, such as `ws`, can send the headers. */
export type OpenSocket = (url: string, headers: Readonly<Record<string, string>>) => Socket;

/** Returns a socket that breaks as soon as it is opened. */
export const brokenSocket = (): Socket => ({
  send() {},
  close() {},
  addEventListener(type, listener) {
    if (type === 'close') queueMicrotask(() => listener({}));
  },
});

/** Opens the WebSocket of the runtime. It can't send headers, so the API key goes as a subprotocol. */
export const openGlobalSocket: OpenSocket = (url, headers) => {
  const apiKey = Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-api-key')?.[1];
  if (typeof WebSocket === 'function') return new WebSocket(url, apiKey === undefined ? [] : [SUBPROTOCOL, apiKey]);
  throw new TypeError('this runtime has no WebSocket: pass the option `openSocket`');
};

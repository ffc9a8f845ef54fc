/** What the stream needs of a WebSocket: the one of a browser, of Node 22, of Deno and of `ws` all have it. */
export interface Socket {
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: SocketEvent) => void): void;
}

export interface SocketEvent {
  readonly type?: string;
  /** The text of a message. */
  readonly data?: unknown;
  /** Why a socket was closed. */
  readonly code?: number;
}

/** Opens a WebSocket. Only some can send the headers. */
export type OpenSocket = (url: string, headers: Readonly<Record<string, string>>) => Socket;

/** The one that the runtime has. It can't send headers. */
export const openGlobalSocket: OpenSocket = (url) => {
  if (typeof WebSocket === 'function') return new WebSocket(url);
  throw new TypeError('this runtime has no WebSocket: pass one as `openSocket`');
};

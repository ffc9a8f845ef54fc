/** The part of a WebSocket that the stream uses: those of browsers, Node 22, Deno and `ws` all have it. */
export interface Socket {
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: SocketEvent) => void): void;
}

export interface SocketEvent {
  readonly type?: string;
  /** The text of a message. */
  readonly data?: unknown;
  /** The close code. */
  readonly code?: number;
}

/** Opens a WebSocket. Only some implementations can send the headers. */
export type OpenSocket = (url: string, headers: Readonly<Record<string, string>>) => Socket;

/** Opens the WebSocket of the runtime, which can't send headers. */
export const openGlobalSocket: OpenSocket = (url) => {
  if (typeof WebSocket === 'function') return new WebSocket(url);
  throw new TypeError('this runtime has no WebSocket: pass the option `openSocket`');
};

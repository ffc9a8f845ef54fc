import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { NodeOptions } from '../../src/gateway/upstream/upstream-options.ts';
import type { Commitment } from '../../src/shared/domain/commitment.ts';
import type { RpcMethod } from '../../src/shared/domain/rpc-methods.ts';
import { bodyOf } from './loopback-server.ts';
import { configOf, type RpcParams } from './rpc-request.ts';

export const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
/** Part of every URL and header of the node, which must never appear in any output. */
export const SECRET = 'k3y-0f-th1s-n0de';

export interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: RpcParams;
  readonly text: string;
}

/** Returns the TCP connection of a WebSocket, which `ws` keeps to itself: corked, several messages come in one piece. */
export const wireOf = (socket: WebSocket): Socket => (socket as unknown as { _socket: Socket })._socket;

/** Reply to a method: this text as `result`, or whatever the function writes. */
export type ReplyScript = string | ((response: ServerResponse, call: RpcRequest) => void);

export const resultBody = ({ id }: RpcRequest, result: string): string =>
  `{"jsonrpc":"2.0","result":${result},"id":${id}}`;
export const errorBody = ({ id }: RpcRequest, error: string): string => `{"jsonrpc":"2.0","error":${error},"id":${id}}`;

/** A node that a test scripts, with HTTP and WebSocket on one loopback port. */
export class ScriptedNode {
  readonly port: number;
  /** Newest slots, for getSlot. */
  slots: Record<Commitment, number> = { processed: 100, confirmed: 98, finalized: 68 };
  readonly replies: Partial<Record<RpcMethod, ReplyScript>> = {
    getGenesisHash: `"${GENESIS}"`,
    getSlot: (response, call) => {
      const commitment: Commitment = configOf(call.params).commitment ?? 'finalized';
      response.end(resultBody(call, `${this.slots[commitment]}`));
    },
  };
  readonly httpRequests: RpcRequest[] = [];
  readonly pubsubRequests: RpcRequest[] = [];
  handshakes = 0;
  /** Open WebSockets, oldest first. */
  readonly sockets = new Set<WebSocket>();
  /** Handler of WebSocket requests; by default it acknowledges with {@link subscriptionId}. */
  onPubsubRequest = (socket: WebSocket, call: RpcRequest): void => {
    const unsubscribe = call.method.endsWith('Unsubscribe');
    socket.send(resultBody(call, unsubscribe ? 'true' : subscriptionId(call)));
  };
  answersPings = true;
  readonly #stop: () => Promise<void>;

  /** Starts a node; it can bind the same port again after {@link close}. */
  static start = (port = 0): Promise<ScriptedNode> =>
    new Promise((resolve, reject) => {
      const server = createServer();
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve(new ScriptedNode(server)));
    });

  private constructor(server: ReturnType<typeof createServer>) {
    const pubsub = new WebSocketServer({ server, autoPong: false });
    this.port = (server.address() as AddressInfo).port; // a string only for pipes
    server.on('request', async (request, response) => {
      const text = String(await bodyOf(request));
      const call: RpcRequest = { ...JSON.parse(text), text };
      this.httpRequests.push(call);
      const reply =
        this.replies[call.method as RpcMethod] ??
        ((_, call) => response.end(errorBody(call, '{"code":-32601,"message":"Method not found"}')));
      if (typeof reply === 'string') response.end(resultBody(call, reply));
      else reply(response, call);
    });
    pubsub.on('connection', (socket) => {
      this.handshakes++;
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('ping', () => {
        if (this.answersPings) socket.pong();
      });
      socket.on('message', (data) => {
        const text = String(data);
        const call: RpcRequest = { ...JSON.parse(text), text };
        this.pubsubRequests.push(call);
        this.onPubsubRequest(socket, call);
      });
    });
    this.#stop = () =>
      new Promise((resolve) => {
        for (const socket of this.sockets) socket.terminate();
        pubsub.close();
        server.close(() => resolve());
        server.closeAllConnections();
      });
  }

  nodeOptions(id: string): NodeOptions {
    const [url, wsUrl] = ['http', 'ws'].map(
      (scheme) => `${scheme}://127.0.0.1:${this.port}/${SECRET}?api-key=${SECRET}`,
    );
    return { id, url: url as string, wsUrl: wsUrl as string, headers: { 'x-token': SECRET } };
  }

  countHttpCalls = (method: string): number => this.httpRequests.filter((call) => call.method === method).length;

  /** Notifies slot subscribers of a processed slot. */
  notifySlot(processed: number): void {
    this.slots = { ...this.slots, processed };
    this.notify('slotSubscribe', `{"slot":${processed + 1},"parent":${processed},"root":${this.slots.finalized}}`);
  }

  /** Sends `result` to the subscriptions of `method`, only at `commitment` if given. */
  notify(method: string, result: string, commitment?: Commitment): void {
    const wanted = this.pubsubRequests.filter(
      (call) => call.method === method && (commitment === undefined || call.params[1]?.commitment === commitment),
    );
    for (const socket of this.sockets) {
      for (const id of new Set(wanted.map(subscriptionId))) socket.send(notificationJson(method, id, result));
    }
  }

  close = (): Promise<void> => this.#stop();
}

/** Makes a subscription id; nodes use numbers beyond the range of a double. */
export const subscriptionId = ({ id }: RpcRequest): string => `184467440737095${10_000 + id}`;

export const notificationJson = (method: string, subscription: string, result: string): string =>
  `{"jsonrpc":"2.0","method":"${method.replace('Subscribe', 'Notification')}","params":{"result":${result},"subscription":${subscription}}}`;

/** Waits until a condition holds; fails after about two seconds. */
export async function waitUntil(condition: () => boolean, what = condition.toString()): Promise<void> {
  for (let turns = 0; !condition(); turns++) {
    if (turns > 2000) throw new Error(`it did not come about: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../domain/clock.ts';
import type { Chain } from './bank/chain.ts';
import type { ControlledServer } from './control/cluster-control.ts';
import { type Subscriber, SubscriptionRegistry } from './pubsub/subscription-registry.ts';
import { callMethod, isMethod } from './rpc/call-method.ts';
import type { InjectedFaults } from './rpc/injected-faults.ts';
import { handleJsonRpc } from './rpc/json-rpc-handler.ts';
import type { NodeContext } from './rpc/method-handler.ts';
import { createHttpHandler } from './rpc/rpc-http-handler.ts';
import type { Faucet } from './traffic/faucet.ts';

/** Parts that the server makes accessible. */
export interface RpcBackend {
  readonly chain: Chain;
  readonly faucet: Faucet;
  readonly faults: InjectedFaults;
  readonly clock: Clock;
}

/** A listening node: JSON-RPC over HTTP and pubsub over WebSocket, on one port of 127.0.0.1. */
export interface RpcServer extends ControlledServer {
  readonly url: string;
  readonly wsUrl: string;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const MAX_CONNECTIONS = 4096;
/** Maximum size of a message from a client. */
const MAX_MESSAGE_BYTES = 4096;
/** Unsent bytes at which a subscriber is disconnected: it would miss notifications anyway. */
const MAX_BACKLOG_BYTES = 16 * 1024 * 1024;
const NORMAL_CLOSURE = 1000;

/** Starts a server that answers like a node of the chain. Port 0 uses a free one. */
export async function startRpcServer(backend: RpcBackend, { port }: { readonly port: number }): Promise<RpcServer> {
  const requests = new Map<string, number>();
  const http = createServer();
  http.maxConnections = MAX_CONNECTIONS;
  const listen = async (port: number): Promise<number> => {
    http.listen(port, HOST);
    await once(http, 'listening');
    const address = http.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  };
  const boundPort = await listen(port);
  const node: NodeContext = { ...backend, address: `${HOST}:${boundPort}` };

  const answer = (method: string, params: unknown): unknown => {
    const name = isMethod(method) ? method : 'unknown';
    requests.set(name, (requests.get(name) ?? 0) + 1);
    return callMethod(node, method, params);
  };
  http.on('request', createHttpHandler({ ...backend, answer: (text) => handleJsonRpc(text, answer, reportDefect) }));

  const sockets = new WebSocketServer({
    server: http,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    autoPong: false,
  });
  const subscriptions = new SubscriptionRegistry(node);
  sockets.on('connection', (socket) => serveWebSocket(socket, subscriptions, backend.faults));
  const unsubscribe = backend.chain.onSlot((event) => subscriptions.publish(event));

  const dropWebSockets = (): void => {
    for (const socket of sockets.clients) socket.terminate();
  };
  const stopListening = async (): Promise<void> => {
    if (!http.listening) return;
    const closed = once(http, 'close');
    http.close();
    dropWebSockets();
    http.closeAllConnections();
    await closed;
  };

  return {
    url: `http://${node.address}`,
    wsUrl: `ws://${node.address}`,
    requestCounts: () => Object.fromEntries(requests),
    dropWebSockets,
    closeWebSockets() {
      for (const socket of sockets.clients) socket.close(NORMAL_CLOSURE);
    },
    stopListening,
    async startListening() {
      if (!http.listening) await listen(boundPort);
    },
    async close() {
      unsubscribe();
      await stopListening();
    },
  };
}

/** Serves one WebSocket until it is closed. */
function serveWebSocket(socket: WebSocket, subscriptions: SubscriptionRegistry, faults: InjectedFaults): void {
  const subscriber: Subscriber = {
    send(text) {
      if (faults.isSilent) return;
      if (socket.bufferedAmount > MAX_BACKLOG_BYTES) socket.terminate();
      else socket.send(text);
    },
  };
  const answer = (method: string, params: unknown): unknown => subscriptions.call(subscriber, method, params);
  socket.on('message', (data: Buffer) => {
    const text = handleJsonRpc(data.toString('utf8'), answer, reportDefect);
    if (text !== '') subscriber.send(text);
  });
  socket.on('ping', (data) => {
    if (!faults.isSilent) socket.pong(data);
  });
  socket.on('close', () => subscriptions.removeSubscriber(subscriber));
  socket.on('error', () => socket.terminate()); // a message that is too long, or not a WebSocket
}

/** Reports a defect of a method: its caller gets an error, the cluster goes on. */
const reportDefect = (thrown: unknown): void =>
  process.emitWarning(thrown instanceof Error ? thrown : new Error('thrown by a method', { cause: thrown }));

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { makeRoom } from '../shared/runtime/make-room.ts';
import { subscriptionRefused } from './encode/json-rpc-error.ts';
import { HOST, listen, listenOnPair, type WantedPorts } from './port-pair.ts';
import { type Subscriber, SubscriptionRegistry } from './pubsub/subscription-registry.ts';
import { callMethod, isMethod } from './rpc/call-method.ts';
import { LATE_ACK_MS } from './rpc/injected-faults.ts';
import { handleJsonRpc } from './rpc/json-rpc-handler.ts';
import type { NodeContext } from './rpc/method-handler.ts';
import { createHttpHandler } from './rpc/rpc-http-handler.ts';

/** What the server makes accessible. */
type RpcBackend = Omit<NodeContext, 'address'>;

const MAX_CONNECTIONS = 4096;
/** The most of them that are no WebSockets: the rest stays for those. */
const MAX_HTTP_CONNECTIONS = 1024;
const MAX_MESSAGE_BYTES = 4096;
/** Unsent bytes at which a subscriber is disconnected: it would miss notifications anyway. */
const MAX_BACKLOG_BYTES = 16 * 1024 * 1024;
const NORMAL_CLOSURE = 1000;
/** HTTP status for a request to the pubsub port that is no WebSocket handshake. */
const UPGRADE_REQUIRED = 426;

/** Starts a node of the chain: JSON-RPC over HTTP on one port of 127.0.0.1, pubsub over WebSocket on that one and on the next. */
export async function startRpcServer(backend: RpcBackend, ports: WantedPorts) {
  const requests = new Map<string, number>();
  const http = createServer();
  const pubsub = createServer((_, response) => response.writeHead(UPGRADE_REQUIRED).end());
  const servers = [http, pubsub];
  for (const server of servers) {
    server.maxConnections = MAX_CONNECTIONS;
    server.on('error', () => {}); // it is about listening, which rejects, or about one connection that the system could not accept
    const leave = makeRoom(server, MAX_HTTP_CONNECTIONS, backend.clock);
    server.on('upgrade', ({ socket }) => leave(socket)); // from Node 26 on its stream may be another one
  }
  const { port, taken } = await listenOnPair(http, pubsub, ports);
  const node: NodeContext = { ...backend, address: `${HOST}:${port}` };

  const answer = (method: string, params: unknown): unknown => {
    const name = isMethod(method) ? method : 'unknown';
    requests.set(name, (requests.get(name) ?? 0) + 1);
    return callMethod(node, method, params);
  };
  http.on('request', createHttpHandler({ ...backend, answer: (text) => handleJsonRpc(text, answer, reportDefect) }));

  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    autoPong: false,
  });
  const subscriptions = new SubscriptionRegistry(node, reportDefect);
  const connections = new Set<Subscriber>();
  for (const server of servers) {
    server.on('upgrade', (request, socket, head) =>
      sockets.handleUpgrade(request, socket, head, (ws) =>
        connections.add(serveWebSocket(ws, subscriptions, backend, (closed) => connections.delete(closed))),
      ),
    );
  }
  const unsubscribe = backend.chain.onSlot((event) => subscriptions.publish(event));

  const dropWebSockets = (): void => {
    for (const socket of sockets.clients) socket.terminate();
  };
  const stopListening = async (): Promise<void> => {
    if (!http.listening) return;
    const closed = Promise.all(servers.map((server) => stop(server)));
    dropWebSockets();
    await closed;
  };

  return {
    url: `http://${node.address}`,
    wsUrl: `ws://${node.address}`,
    /** The wanted port that another process has, if that is why the node listens on other ports. */
    takenPort: taken,
    /** Answers a request to another server of the process as one to its own, while that listens. */
    handle(request: IncomingMessage, response: ServerResponse) {
      if (http.listening) http.emit('request', request, response);
      else response.destroy();
    },
    /** The number of calls over HTTP by JSON-RPC method; methods that no node has are counted as `unknown`. */
    requests,
    /** Returns the number of subscriptions of each open WebSocket. */
    subscriptionCounts: () => [...connections].map((connection) => subscriptions.countOf(connection)),
    /** Cuts every WebSocket without a close frame. */
    dropWebSockets,
    /** Closes every WebSocket with code 1000, as a load balancer does that drains. */
    closeWebSockets(): void {
      for (const socket of sockets.clients) socket.close(NORMAL_CLOSURE);
    },
    /** Cuts all connections and refuses new ones. */
    stopListening,
    /** Listens again, at the same address. */
    async startListening() {
      if (http.listening) return;
      await listen(http, port);
      await listen(pubsub, port + 1);
    },
    async close() {
      unsubscribe();
      await stopListening();
    },
  };
}

/** Ends the connections of a server that are not upgraded, and resolves when all of its connections have ended. */
async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/** Serves one WebSocket until it is closed. Calls `onClosed` then. */
function serveWebSocket(
  socket: WebSocket,
  subscriptions: SubscriptionRegistry,
  { faults, clock }: RpcBackend,
  onClosed: (connection: Subscriber) => void,
): Subscriber {
  const subscriber: Subscriber = {
    send(text) {
      if (faults.isSilent) return;
      if (socket.bufferedAmount > MAX_BACKLOG_BYTES) socket.terminate();
      else socket.send(text);
    },
  };
  const isBeyondLimit = (method: string): boolean =>
    subscriptions.isSubscribe(method) && subscriptions.countOf(subscriber) >= faults.subscriptionLimit;
  socket.on('message', (data: Buffer) => {
    let isLate = false;
    const answer = (method: string, params: unknown): unknown => {
      if (isBeyondLimit(method)) {
        if (faults.subscriptionRefusal === 'close') socket.terminate();
        if (faults.subscriptionRefusal !== 'late') throw subscriptionRefused();
        isLate = true;
      }
      return subscriptions.call(subscriber, method, params);
    };
    const text = handleJsonRpc(data.toString('utf8'), answer, reportDefect);
    if (isLate) clock.after(LATE_ACK_MS, () => subscriber.send(text));
    else if (text !== '') subscriber.send(text);
  });
  socket.on('ping', (data) => {
    if (!faults.isSilent) socket.pong(data);
  });
  socket.on('close', () => {
    subscriptions.removeSubscriber(subscriber);
    onClosed(subscriber);
  });
  socket.on('error', () => socket.terminate()); // a message that is too long, or not a WebSocket
  return subscriber;
}

/** Reports a defect of a method or a subscription: its caller gets an error or nothing more, the cluster goes on. */
const reportDefect = (thrown: unknown): void =>
  process.emitWarning(thrown instanceof Error ? thrown : new Error('thrown by a method', { cause: thrown }));

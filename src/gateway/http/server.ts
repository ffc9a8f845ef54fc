import type { AccountChangeSource } from '../../shared/domain/account-change.ts';
import type { Clock } from '../../shared/domain/clock.ts';
import { ERRORS, GatewayError } from '../../shared/domain/gateway-error.ts';
import type { NetworkSnapshot } from '../../shared/domain/network-snapshot.ts';
import { toJson } from '../../shared/domain/to-json.ts';
import { GATEWAY_CALLER, RequestCost } from '../../shared/domain/units.ts';
import { WorkPerTurn } from '../../shared/runtime/work-per-turn.ts';
import { addressKeyOf } from '../access/quota/rate-limit-key.ts';
import type { Entry } from '../cache/entry.ts';
import { answerRpcCall } from '../routes/rpc/answer-rpc-call.ts';
import { AllowedSources, type SourceLimits } from './engine/allowed-sources.ts';
import { BodySender } from './engine/body-sender.ts';
import {
  type Engine,
  type EngineApp,
  MAX_HEAD_BYTES,
  MAX_HEADER_LINES,
  type UnparsableFault,
} from './engine/engine.ts';
import type { PendingBytesLimits } from './engine/pending-bytes.ts';
import { PipeliningDetector } from './engine/pipelining-detector.ts';
import { ReaderSampling } from './engine/reader-sampling.ts';
import { EventChannels } from './events/event-channels.ts';
import type { ReadEvents } from './events/event-log.ts';
import { EventSealer } from './events/event-sealer.ts';
import { PubsubServer, type PubsubServerOptions } from './pubsub/pubsub-server.ts';
import type { ReadRpc } from './pubsub/source.ts';
import type { Responder } from './rest/guarded-request.ts';
import { pathLabel } from './rest/path-kinds.ts';
import { createRequestHandlers, type RequestHandlerDeps } from './rest/request-handler.ts';
import { errorResponse } from './rest/responses.ts';
import { AccountTopics } from './stream/account-topics.ts';
import { EventStreams } from './stream/event-streams.ts';
import { newCloseCounts } from './stream/open-sockets.ts';
import { StreamServer } from './stream/stream-server.ts';

/** The answers that were waited for and leave in one turn of the event loop, about 15 us each. */
const AWAITED_PER_TURN = 256;

export interface ServerOptions
  extends Omit<RequestHandlerDeps, 'pendingResponses' | 'pipelining' | 'sources' | 'respondToStream'>,
    SourceLimits,
    Pick<PubsubServerOptions, 'liveLogs'> {
  readonly engine: Engine;
  readonly host: string;
  /** TCP port; 0 for a free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly random: () => number;
  /** Returns the number of I/O events that the event loop has handled up to this turn. */
  readonly polledEvents: () => number;
  /** Starts to measure the CPU time of this thread, in milliseconds. */
  readonly startCpuStopwatch: () => () => number;
  readonly pendingBytes: PendingBytesLimits;
  /** The most connections that may be open, WebSockets too. */
  readonly maxConnections: number;
  readonly stream: { readonly maxBackpressureBytes: number; readonly eventBytes: number };
  readonly liveAccounts: AccountChangeSource;
  readonly readEvents: ReadEvents;
  /** Whether other processes of this machine listen on the same port. Default: none may. */
  readonly sharesPort?: boolean;
}

export type Server = ReturnType<typeof createServer>;

/** Accepts connections while there is room for them. Returns what counts those that are open. */
function admitConnections(
  app: EngineApp,
  { access, maxConnections, onInternalError }: Pick<ServerOptions, 'access' | 'maxConnections' | 'onInternalError'>,
  pipelining: PipeliningDetector,
): () => number {
  let connections = 0;
  const hasRoom = (address: ArrayBuffer): boolean =>
    app.countOpen(address) > access.connectionLimiter.maxOpenOf(address)
      ? app.closeIdle(address)
      : connections <= maxConnections || app.closeIdle();
  // The engine's handle is valid during this call only.
  app.onConnect((connection) => {
    connections++;
    try {
      const address = connection.getRemoteAddress();
      // No idle connection may make room for one over the limit.
      if (access.connectionLimiter.accepts(address, connections > maxConnections / 2) && hasRoom(address))
        pipelining.countConnection(addressKeyOf(address));
      else connection.close();
    } catch (thrown) {
      onInternalError('a new connection', thrown); // an exception that leaves this function ends the process
    }
  });
  app.onDisconnect(() => {
    connections--;
  });
  return () => connections;
}

const unparsableError = (fault: UnparsableFault): GatewayError =>
  fault === 'malformed'
    ? new GatewayError('invalid_request', 'this is no valid HTTP request')
    : new GatewayError(
        'headers_too_large',
        `a request may have ${MAX_HEADER_LINES} header lines, and ${MAX_HEAD_BYTES} bytes before its body`,
      );

const tooDeepError = (): GatewayError =>
  new GatewayError('rate_limited', 'too many requests are pipelined: wait for answers before you send more', {
    retryAfter: 1,
  });

/** Returns what reads by a node's method as work of the gateway itself, elsewhere where calls of `/rpc` are answered there. */
const createReadRpc =
  ({ access, answerRpc, context }: Pick<ServerOptions, 'access' | 'answerRpc' | 'context'>): ReadRpc =>
  async (method, params, minSlot) => {
    const cost = new RequestCost(GATEWAY_CALLER, false);
    const answer =
      answerRpc === undefined
        ? await answerRpcCall(
            { method, params, jsonRpcId: undefined },
            context,
            (work) => access.admission.enterOwn(work),
            { cost: undefined, minSlot },
          )
        : await answerRpc(Buffer.from(toJson({ method, params })), { minSlot }, cost);
    return answer.result;
  };

/** Creates the gateway's only listener, which doesn't listen yet. */
export function createServer(options: ServerOptions) {
  const { engine, host, port, context, sharesPort = false, access } = options;
  const app = engine.createApp({
    clock: options.clock,
    readsProxyHeaders: access.clientIp.trustsProxies,
    refuseUnparsable: (fault, peer) => errorResponse(access.rateLimiter.peek(peer), unparsableError(fault), options),
    refusePipelined(peer) {
      options.answerCounts.countStatus(pathLabel(''), ERRORS.rate_limited.status);
      options.answerCounts.countError('rate_limited');
      return errorResponse(access.rateLimiter.peek(peer), tooDeepError(), options);
    },
    startCpuStopwatch: options.startCpuStopwatch,
  });
  const pipelining = new PipeliningDetector(options.polledEvents);
  const openCount = admitConnections(app, options, pipelining);
  const pendingResponses = {
    count: 0,
    awaited: new WorkPerTurn(AWAITED_PER_TURN),
    bodies: new BodySender({ ...options, sampling: new ReaderSampling(options.random) }),
  };
  const { clock, readThrough, sealer, liveAccounts } = options;
  const sources = new AllowedSources(options);
  const { mesh } = context;
  const eventSealer = new EventSealer({ sealer, cluster: () => mesh.genesisHash, maxBytes: options.stream.eventBytes });
  const channels = new EventChannels({ read: options.readEvents, sealer: eventSealer, liveAccounts, clock });
  const closes = newCloseCounts();
  const stream = new StreamServer(app, {
    ...options,
    sources,
    closes,
    ...options.stream,
    accountTopics: new AccountTopics({ clock, readThrough, sealer, liveAccounts, channels }),
    pendingResponses,
  });
  const eventStreams = new EventStreams({ channels, access, clock, context, closes });
  const pubsub = new PubsubServer(app, {
    ...options,
    sources,
    closes,
    ...options.stream,
    mesh,
    events: channels,
    readRpc: createReadRpc(options),
    pendingResponses,
  });
  const respondToStream: Responder = (request) => eventStreams.respond(request);
  app.handleRequests(createRequestHandlers({ ...options, sources, pipelining, pendingResponses, respondToStream }));

  const drain = (): void => {
    app.stopListening();
    stream.close();
    eventStreams.close();
    pubsub.close();
    channels.close();
  };

  return {
    /** Starts to listen; resolves to the port. Rejects with a StartError if it can't. */
    listen: () => app.listen(host, port, sharesPort),
    /** Also listens on the next port, where clients of nodes expect pubsub. Resolves to false if it can't. */
    listenNext: () =>
      app.listen(host, port + 1, sharesPort).then(
        () => true,
        () => false,
      ),
    get connections() {
      return openCount();
    },
    get subscribers() {
      return stream.subscribers + eventStreams.size + pubsub.connections;
    },
    /** The figures of `/stream`, with those of its events and of pubsub. */
    get stream() {
      const { channels, subscriptions, ...figures } = stream.figures;
      const events = { format: 'events', intervalMs: 0, connections: eventStreams.size };
      const ofPubsub = { format: 'pubsub', intervalMs: 0, connections: pubsub.connections };
      return {
        ...figures,
        closes,
        channels: [...channels, events, ofPubsub],
        subscriptions: new Map([...subscriptions, ...pubsub.subscriptionCounts]),
      };
    },
    answerCounts: options.answerCounts,
    /** The bytes of answers that their readers don't have yet. */
    get pendingBytes() {
      return pendingResponses.bodies.owed.total;
    },
    get pendingResponses() {
      return pendingResponses.count;
    },
    publish: (entry: Entry, snapshot: NetworkSnapshot): void => stream.publish(entry, snapshot),
    /** Refuses new connections and closes the streams. Pending requests are still answered. */
    drain,
    close() {
      drain();
      app.close();
    },
  };
}

import {
  type handleBidiStreamingCall,
  type handleUnaryCall,
  type Metadata,
  Server,
  ServerCredentials,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import type { Clock } from '../../shared/domain/clock.ts';
import { asBuffer } from '../../shared/runtime/as-buffer.ts';
import { repeat } from '../../shared/runtime/repeat.ts';
import type { Chain } from '../bank/chain.ts';
import { CODE, EmbeddedFeed } from './embedded-feed.ts';
import type { GeyserFaults } from './geyser-faults.ts';
import {
  decodePing,
  decodeRequest,
  encodePingUpdate,
  encodePong,
  encodeReplayInfo,
  encodeVersion,
} from './geyser-messages.ts';

/** A listening feed. */
export interface GeyserServer {
  readonly url: string;
  /** Ends all subscriptions, as a restart does; without a replay all blocks are forgotten. */
  restart(keepsReplay: boolean): Promise<void>;
  /** Ends all subscriptions as those of slow readers. */
  lag(): Promise<void>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const PING_MS = 10_000;
/** Longest request: some 90,000 addresses. */
const MAX_REQUEST_BYTES = 4 << 20;

const RAW = {
  requestSerialize: asBuffer,
  requestDeserialize: asBuffer,
  responseSerialize: asBuffer,
  responseDeserialize: asBuffer,
};
const method = (name: string, isStream: boolean) => ({
  path: `/geyser.Geyser/${name}`,
  requestStream: isStream,
  responseStream: isStream,
  ...RAW,
});
const SERVICE: ServiceDefinition = {
  Subscribe: method('Subscribe', true),
  Ping: method('Ping', false),
  GetVersion: method('GetVersion', false),
  SubscribeReplayInfo: method('SubscribeReplayInfo', false),
};

/** Starts a server on loopback that feeds subscriptions as Yellowstone's Geyser plugin does; port 0 is a free one. */
export async function startGeyserServer(
  chain: Chain,
  clock: Clock,
  faults: GeyserFaults,
  port: number,
): Promise<GeyserServer> {
  const feed = new EmbeddedFeed(chain, clock, faults);
  const isRefused = (metadata: Metadata): boolean =>
    faults.token !== undefined && metadata.get('x-token')[0] !== faults.token;
  const refusal = { code: CODE.unauthenticated, details: 'No valid auth token' };
  const unary =
    (answer: (request: Uint8Array) => Uint8Array): handleUnaryCall<Uint8Array, Uint8Array> =>
    ({ metadata, request }, reply) =>
      isRefused(metadata) ? reply(refusal) : reply(null, answer(request));
  const subscribe: handleBidiStreamingCall<Uint8Array, Uint8Array> = (call) => {
    if (isRefused(call.metadata)) return void call.emit('error', refusal);
    const subscription = feed.subscribe({
      send: (message) => void call.write(message),
      end: (code, details) => void call.emit('error', { code, details }),
    });
    const stopPing = repeat(clock, PING_MS, () => {
      if (!faults.isSilent) call.write(encodePingUpdate());
    });
    const end = (): void => {
      stopPing();
      feed.unsubscribe(subscription);
    };
    call.on('data', (bytes: Uint8Array) => {
      try {
        subscription.onRequest(decodeRequest(bytes));
      } catch (thrown) {
        call.emit('error', { code: CODE.invalidArgument, details: String(thrown) });
      }
    });
    call.on('end', () => {
      end();
      call.end();
    });
    call.on('cancelled', end);
    call.on('error', end);
  };
  const server = new Server({
    'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
    'grpc.max_send_message_length': -1,
  });
  server.addService(SERVICE, {
    Subscribe: subscribe,
    Ping: unary((request) => encodePong(decodePing(request))),
    GetVersion: unary(() => encodeVersion(faults.version)),
    SubscribeReplayInfo: unary(() => encodeReplayInfo(feed.firstAvailable)),
  });
  const boundPort = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`${HOST}:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  const unsubscribe = chain.onSlot((event) => feed.publish(event));
  return {
    url: `http://${HOST}:${boundPort}`,
    restart: async (keepsReplay) => feed.restart(keepsReplay),
    lag: async () => feed.lag(),
    async close() {
      unsubscribe();
      server.forceShutdown();
    },
  };
}

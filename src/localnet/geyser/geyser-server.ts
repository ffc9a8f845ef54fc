import { type handleUnaryCall, type Metadata, Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import type { Clock } from '../../shared/domain/clock.ts';
import { asBuffer } from '../../shared/runtime/as-buffer.ts';
import type { Chain } from '../bank/chain.ts';
import { CODE, EmbeddedFeed, type SubscribeCall } from './embedded-feed.ts';
import type { GeyserFaults } from './geyser-faults.ts';
import { decode, encode } from './geyser-messages.ts';

const HOST = '127.0.0.1';
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
export async function startGeyserServer(chain: Chain, clock: Clock, faults: GeyserFaults, port: number) {
  const feed = new EmbeddedFeed(chain, clock, faults);
  const isRefused = (metadata: Metadata): boolean =>
    faults.token !== undefined && metadata.get('x-token')[0] !== faults.token;
  const refusal = { code: CODE.unauthenticated, details: 'No valid auth token' };
  const unary =
    (answer: (request: Uint8Array) => Uint8Array): handleUnaryCall<Uint8Array, Uint8Array> =>
    ({ metadata, request }, reply) =>
      isRefused(metadata) ? reply(refusal) : reply(null, answer(request));
  const server = new Server({
    'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
    'grpc.max_send_message_length': -1,
  });
  server.addService(SERVICE, {
    Subscribe(call: SubscribeCall) {
      if (isRefused(call.metadata)) call.emit('error', refusal);
      else feed.serve(call);
    },
    Ping: unary((request) => encode('PongResponse', decode('PingRequest', request))),
    GetVersion: unary(() => encode('GetVersionResponse', { version: faults.version })),
    SubscribeReplayInfo: unary(() => encode('SubscribeReplayInfoResponse', { firstAvailable: feed.firstAvailable })),
  });
  const boundPort = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`${HOST}:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  const unsubscribe = chain.onSlot((event) => feed.publish(event));
  return {
    url: `http://${HOST}:${boundPort}`,
    feed,
    async close() {
      unsubscribe();
      server.forceShutdown();
    },
  };
}

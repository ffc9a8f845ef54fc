import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import process from 'node:process';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import type { Client, Metadata, StatusObject } from '@grpc/grpc-js';
import protobuf from 'protobufjs/minimal.js';
import type { Slot } from '../../../shared/domain/slot.ts';
import { asBuffer } from '../../../shared/runtime/as-buffer.ts';
import { encodePing } from './encode-request.ts';
import { type FrameCount, MAX_FRAMES, paceConnections } from './paced-connection.ts';

export interface FeedAddress {
  /** `http://host:port`, or `https://` for TLS. */
  readonly url: string;
  /** Sent in `x-token`; undefined for none. */
  readonly token: string | undefined;
}

/** Why a call ended: a status of gRPC, and the same in words without secrets. */
export interface FeedFailure {
  readonly code: number;
  readonly reason: string;
}

export interface FeedListener {
  /** Returns a promise where the next message is to wait for it. */
  onMessage(bytes: Uint8Array): Promise<void> | undefined;
  /** Called once, when the subscription has ended for whatever reason. */
  onEnd(failure: FeedFailure): void;
}

export interface FeedCall {
  /** Whether requests wait, as the server has not accepted them yet. */
  readonly isSending: boolean;
  /** Sends a request. It replaces the one before. */
  send(request: Uint8Array): void;
  cancel(): void;
}

export interface FeedClient {
  /** Resolves to the text by which the server names its version. Throws a {@link FeedError}. */
  version(): Promise<string>;
  /** Resolves to the oldest slot that it sends again; undefined for none. Throws a {@link FeedError}. */
  firstReplayed(): Promise<Slot | undefined>;
  /** `isLong`: whether the subscription is to last, and so has a connection of its own. */
  subscribe(listener: FeedListener, isLong?: boolean): FeedCall;
  /** Cancels all subscriptions, and closes their connections. */
  close(): void;
}

/** Thrown where a feed can't be used; the message says why, without secrets. */
export class FeedError extends Error {
  override readonly name = 'FeedError';
}

/** Answers a ping. A server that sends more of them than it accepts answers gets fewer: they would pile up. */
export function answerPing(call: FeedCall): void {
  if (!call.isSending) call.send(encodePing());
}

/** Longest message in bytes: a block with 50,000 accounts that all change. */
const MAX_MESSAGE_BYTES = 64 << 20;
/** Most bytes of the messages that wait, of which gRPC reads up to 16 ahead. */
const MAX_WAITING_BYTES = 2 * MAX_MESSAGE_BYTES;
/** Messages after which the rest waits for the next turn of the event loop: about a millisecond's work. */
const MESSAGES_PER_TURN = 256;
/** Longest time of a call that is answered once, and until the connection of a subscription is there, in milliseconds. */
const [CALL_MS, CONNECT_MS] = [5000, 2000];
/** Interval of HTTP/2 pings, and the longest time until they are answered, in milliseconds. */
const [KEEPALIVE_MS, KEEPALIVE_TIMEOUT_MS] = [10_000, 5000];

/**
 * The name by which TLS calls a server that has an IP address only: TLS has no addresses as names (RFC 6066 3), Node 26 refuses
 * them, and gRPC can't leave the name out. The certificate is compared with the address.
 */
const NAME_OF_ADDRESS = 'address.invalid';
/** Up to Node 25 the address itself is the name, by which some servers choose their certificate. */
const REFUSES_ADDRESSES = Number.parseInt(process.versions.node, 10) >= 26;

export const GRPC_CODE = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  permissionDenied: 7,
  resourceExhausted: 8,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/**
 * Loads gRPC and creates a client. It connects with the first call. A subscription that lasts has a connection of its own, made
 * when it begins: gRPC would wait up to two minutes after a loss, and would use one that is dead until its ping shows that.
 */
export async function createFeedClient({ url, token }: FeedAddress): Promise<FeedClient> {
  const { default: grpc } = await import('@grpc/grpc-js'); // only where a feed is configured
  grpc.setLogVerbosity(grpc.logVerbosity.NONE); // it would write addresses to the console, besides what it reports
  const { hostname, host, port, protocol } = new URL(url);
  const isSecure = protocol === 'https:';
  const address = hostname.replace(/^\[|\]$/g, ''); // of IPv6
  const hasName = isIP(address) === 0;
  const identity = hasName
    ? {}
    : { checkServerIdentity: (_: string, certificate: PeerCertificate) => identityFault(address, certificate) };
  const metadata = new grpc.Metadata();
  if (token !== undefined) metadata.set('x-token', token);
  const target = port === '' ? `${hostname}:${isSecure ? 443 : 80}` : host;
  const options = {
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
    'grpc.enable_retries': 0,
    'grpc.enable_http_proxy': 0,
    'grpc.use_local_subchannel_pool': 1, // streams of one connection would share its window
    ...(!hasName && REFUSES_ADDRESSES && { 'grpc.ssl_target_name_override': NAME_OF_ADDRESS }),
  };
  const connect = (): FeedConnection => {
    const credentials = isSecure
      ? grpc.credentials.createSsl(null, null, null, identity)
      : grpc.credentials.createInsecure();
    const count = paceConnections(credentials);
    return { client: new grpc.Client(target, credentials, options), count };
  };
  const shared = connect();
  const { client } = shared;
  const calls = new Set<FeedCall>();
  let isClosed = false;
  return {
    version: async () => (await readField(client, metadata, 'GetVersion', (reader) => reader.string())) ?? '',
    firstReplayed: () => readField(client, metadata, 'SubscribeReplayInfo', (reader) => Number(reader.uint64())),
    subscribe(listener, isLong = false) {
      if (isClosed) return ENDED;
      const own = isLong ? connect() : undefined;
      const onEnd = (): void => {
        calls.delete(call);
        own?.client.close();
      };
      const call = subscribe(own ?? shared, onEnd, metadata, listener);
      calls.add(call);
      return call;
    },
    close() {
      isClosed = true;
      for (const call of calls) call.cancel();
      client.close();
    },
  };
}

/** Returns why a certificate is not of an address; undefined if it is. Node 22.23 finds no IPv6 address in any. */
const identityFault = (address: string, certificate: PeerCertificate): Error | undefined =>
  new X509Certificate(certificate.raw).checkIP(address) === undefined
    ? checkServerIdentity(address, certificate)
    : undefined;

/** A subscription over a client that was closed: gRPC would throw. */
const ENDED: FeedCall = { isSending: false, send: () => {}, cancel: () => {} };

interface FeedConnection {
  readonly client: Client;
  readonly count: FrameCount;
}

function subscribe(
  { client, count }: FeedConnection,
  onEnded: () => void,
  metadata: Metadata,
  { onMessage, onEnd }: FeedListener,
): FeedCall {
  let [waitingBytes, messages] = [0, 0];
  const receive = (bytes: Buffer): Buffer => {
    count.frames = 0;
    waitingBytes += bytes.length;
    if (waitingBytes > MAX_WAITING_BYTES) throw new RangeError('messages come faster than they are decoded');
    return bytes;
  };
  const call = client.makeBidiStreamRequest('/geyser.Geyser/Subscribe', asBuffer, receive, metadata);
  let hasEnded = false;
  const end = (failure: FeedFailure): void => {
    if (hasEnded) return;
    hasEnded = true;
    onEnded();
    onEnd(failure);
  };
  client.waitForReady(Date.now() + CONNECT_MS, (error) => {
    if (error === undefined || hasEnded) return;
    call.cancel();
    end({ code: GRPC_CODE.unavailable, reason: `gave no connection for ${CONNECT_MS / 1000} s` });
  });
  call.on('data', (bytes: Buffer) => {
    waitingBytes -= bytes.length;
    const handling = hasEnded ? undefined : onMessage(bytes);
    if (handling === undefined && ++messages % MESSAGES_PER_TURN !== 0) return;
    call.pause();
    void (handling ?? new Promise(setImmediate)).then(() => call.resume());
  });
  call.on('error', (error: Partial<StatusObject>) =>
    end(count.frames > MAX_FRAMES ? TOO_MANY_FRAMES : failureOf(error)),
  );
  call.on('end', () => end({ code: GRPC_CODE.unavailable, reason: 'ended the stream' }));
  return {
    get isSending() {
      return call.writableLength > 0;
    },
    send(request) {
      if (!hasEnded) call.write(request);
    },
    cancel() {
      hasEnded = true;
      call.cancel();
      onEnded();
    },
  };
}

/** Calls a method without parameters; resolves to the first field of its answer. */
async function readField<T>(
  client: Client,
  metadata: Metadata,
  method: string,
  read: (reader: protobuf.Reader) => T,
): Promise<T | undefined> {
  const answer = await new Promise<Uint8Array>((resolve, reject) => {
    const options = { deadline: Date.now() + CALL_MS };
    client.makeUnaryRequest(
      `/geyser.Geyser/${method}`,
      asBuffer,
      (bytes) => bytes,
      new Uint8Array(0),
      metadata,
      options,
      (error, value) => {
        if (error === null && value !== undefined) resolve(value);
        else if (error?.code === GRPC_CODE.resourceExhausted && /larger than max/.test(error.details))
          reject(new FeedError(`answers ${method} with something else`));
        else reject(new FeedError(failureOf(error ?? {}).reason, { cause: error }));
      },
    );
  });
  try {
    const reader = protobuf.Reader.create(answer);
    while (reader.pos < reader.len) {
      const tag = reader.tag();
      if (tag >>> 3 === 1) return read(reader);
      reader.skipType(tag & 7);
    }
  } catch (cause) {
    throw new FeedError(`answers ${method} with something else`, { cause });
  }
  return undefined;
}

const TOO_MANY_FRAMES: FeedFailure = {
  code: GRPC_CODE.unavailable,
  reason: 'sends frames that are no message of a Geyser feed',
};

function failureOf({ code = GRPC_CODE.internal, details = '' }: Partial<StatusObject>): FeedFailure {
  return { code, reason: reasonOf(code, details) };
}

/** The longest part of a server's own words that is shown. */
const MAX_DETAILS = 120;

function reasonOf(code: number, details: string): string {
  switch (code) {
    case GRPC_CODE.unauthenticated:
    case GRPC_CODE.permissionDenied:
      return 'refuses the token';
    case GRPC_CODE.unimplemented:
      return 'is no Geyser feed';
    case GRPC_CODE.deadlineExceeded:
      return `does not answer for ${CALL_MS / 1000} s`;
    case GRPC_CODE.unavailable:
      if (/certificate|altname|SSL|TLS|EPROTO|wrong version/i.test(details))
        return `fails the TLS handshake (${quoted(details)})`;
      if (/Protocol error|Parse Error|HTTP\/1|ERR_HTTP2/i.test(details)) return 'does not speak HTTP/2';
      if (/Last error: Failed to connect/.test(details))
        return 'closes connections before HTTP/2 begins: it may speak TLS';
      return `can't be reached (${quoted(details)})`;
    default:
      return `ends with status ${code} (${quoted(details)})`;
  }
}

/** What gRPC and OpenSSL put around the words of an error, in part another with each attempt. */
const WRAPPING =
  /^.*:SSL routines:[^:]*:|^No connection established\. Last error: (Error: )?|(:\.\.\/.*)?\. Resolution note: $/gs;

/** Quotes words of a server or of the network: they may hold anything. */
const quoted = (text: string): string =>
  JSON.stringify(
    text
      .replace(WRAPPING, '')
      .replace(/[^\x20-\x7e]/g, '?')
      .slice(0, MAX_DETAILS),
  );

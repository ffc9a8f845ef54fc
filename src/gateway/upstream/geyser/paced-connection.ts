import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ChannelCredentials } from '@grpc/grpc-js';

/** The bytes before the payload of an HTTP/2 frame: the first three are its length, the next is its type. */
const [HEAD_BYTES, LENGTH_BYTES] = [9, 3];
/** The type of a frame by which a server begins a stream of its own. gRPC has none, and would keep each. */
const PUSH_PROMISE = 5;
/** Most frames before a message is complete: the longest one in frames of 1 KiB. Node and gRPC keep an object for each. */
export const MAX_FRAMES = 1 << 16;
/** The frames of a connection that are passed on in one turn of the event loop, and the bytes: each frame may begin a stream. */
const [FRAMES_PER_TURN, BYTES_PER_TURN] = [512, 512 << 10];

/** What a client counts: the frames that come until a message is complete. */
export interface FrameCount {
  frames: number;
}

/**
 * Has a client with these credentials read its connections in pieces, each in a turn of the event loop: Node reads 2 MiB in one,
 * which may be 100,000 frames. gRPC has no other place for that. The client is to reset the count with each message.
 */
export function paceConnections(credentials: ChannelCredentials): FrameCount {
  const count: FrameCount = { frames: 0 };
  const createConnector = credentials._createSecureConnector.bind(credentials);
  credentials._createSecureConnector = (...options) => {
    const connector = createConnector(...options);
    const connect = connector.connect.bind(connector);
    connector.connect = async (plain) => {
      const { socket, secure } = await connect(plain);
      count.frames = 0;
      return { socket: paced(socket, countFrames(count)), secure };
    };
    return connector;
  };
  return count;
}

/** Returns what counts the frames of one connection. It returns how many of the bytes a turn may have; undefined after too many frames. */
function countFrames(count: FrameCount): (bytes: Uint8Array) => number | undefined {
  let [headBytes, length, payloadLeft] = [0, 0, 0];
  return (bytes) => {
    let at = 0;
    for (let begun = 0; at < bytes.length && begun < FRAMES_PER_TURN; ) {
      const skipped = Math.min(payloadLeft, bytes.length - at);
      payloadLeft -= skipped;
      at += skipped;
      if (at === bytes.length) break;
      const byte = bytes[at++] ?? 0;
      if (headBytes < LENGTH_BYTES) length = length * 256 + byte;
      else if (headBytes === LENGTH_BYTES && byte === PUSH_PROMISE) count.frames = MAX_FRAMES;
      headBytes++;
      if (headBytes < HEAD_BYTES) continue;
      count.frames++;
      begun++;
      [headBytes, length, payloadLeft] = [0, 0, length];
    }
    return count.frames <= MAX_FRAMES ? at : undefined;
  };
}

function paced(socket: Socket, countAccepted: (bytes: Uint8Array) => number | undefined): Socket {
  const pass = (): void => {
    const bytes: Buffer | null = socket.read(Math.min(socket.readableLength, BYTES_PER_TURN));
    if (bytes === null) {
      socket.once('readable', pass);
      return;
    }
    const accepted = countAccepted(bytes);
    if (accepted === undefined) {
      connection.destroy();
      return;
    }
    if (accepted < bytes.length) socket.unshift(bytes.subarray(accepted));
    connection.push(bytes.subarray(0, accepted));
  };
  const connection = new Duplex({
    read: () => void setImmediate(pass),
    write: (bytes, _, done) => void socket.write(bytes, () => done()), // an error ends it by `close`
    final: (done) => void socket.end(done),
    destroy: (_, done) => {
      socket.destroy();
      done(null);
    },
  });
  connection.on('end', () => connection.destroy()); // else Node ends it, and fails an assertion if HTTP/2 writes until that is done
  socket.on('end', () => connection.push(null));
  socket.on('error', () => connection.destroy());
  socket.on('close', () => connection.destroy());
  return connection as Socket; // of which gRPC and node:http2 use what any stream has
}

import type { Socket } from 'node:net';

/** The first bytes of a header of the PROXY protocol, version 2 (haproxy.org, proxy-protocol.txt 2.2). */
const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

/** The bytes before the address: signature, version and command, family, length. */
const FIXED_BYTES = 16;

/** The longest header that is read; an IPv6 address and a few extensions have about 100 bytes. */
const MAX_BYTES = 1024;
const PROXY_COMMAND = 0x21;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;

/** What the first bytes of a connection are: a header with its length, none, or too few bytes to know. */
type Preface = { readonly bytes: number; readonly address: ArrayBuffer } | 'none' | 'incomplete';

/**
 * Reads the PROXY header before the first request. Calls `done` with the caller's address in it, 4 or 16 bytes, or none;
 * the bytes behind the header are then the next that the socket reads. A connection that stays silent is closed.
 */
export function readProxyHeader(socket: Socket, timeoutMs: number, done: (address: ArrayBuffer) => void): void {
  let received = Buffer.alloc(0);
  const close = (): void => void socket.destroy();
  const onData = (chunk: Buffer): void => {
    received = Buffer.concat([received, chunk]);
    const preface = prefaceOf(received);
    if (preface === 'incomplete') return;
    socket.off('data', onData).off('timeout', close).off('error', close).off('end', close);
    socket.pause();
    const rest = preface === 'none' ? received : received.subarray(preface.bytes);
    if (rest.length > 0) socket.unshift(rest);
    done(preface === 'none' ? new ArrayBuffer(0) : preface.address);
    socket.resume();
  };
  socket.setTimeout(timeoutMs);
  socket.on('data', onData).on('timeout', close).on('error', close).on('end', close);
}

function prefaceOf(received: Buffer): Preface {
  const compared = Math.min(received.length, SIGNATURE.length);
  if (!received.subarray(0, compared).equals(SIGNATURE.subarray(0, compared))) return 'none';
  if (received.length < FIXED_BYTES) return 'incomplete';
  const bytes = FIXED_BYTES + received.readUInt16BE(14);
  if (bytes > MAX_BYTES) return 'none'; // the parser refuses it
  return received.length < bytes ? 'incomplete' : { bytes, address: addressIn(received) };
}

/** Returns the source address of a complete header; none of a health check of the proxy itself. */
function addressIn(header: Buffer): ArrayBuffer {
  const [command, family] = [header[12], header[13]];
  const length = family === TCP_OVER_IPV4 ? 4 : family === TCP_OVER_IPV6 ? 16 : 0;
  const isLongEnough = header.readUInt16BE(14) >= 2 * length + 4; // two addresses and two ports
  if (command !== PROXY_COMMAND || !isLongEnough) return new ArrayBuffer(0);
  return new Uint8Array(header.subarray(FIXED_BYTES, FIXED_BYTES + length)).buffer;
}

import { connect } from 'node:net';

/** Ping of the engine after a silence and the pong that it expects: empty frames, RFC 6455 5.5.2. */
const PING = Buffer.from([0x89, 0]);
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** Opens a WebSocket that only reports received data, so that a thousand of them cost little. */
export function openListener(url: string, onData: (chunk: Buffer) => void): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const handshake = [
    `GET ${pathname} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(`${handshake.join('\r\n')}\r\n\r\n`));
    socket.on('error', () => {}); // the server's end
    socket.once('data', () => {
      socket.on('data', (chunk) => {
        if (chunk.subarray(-PING.length).equals(PING)) socket.write(PONG);
        if (chunk.length > PING.length) onData(chunk);
      });
      resolve();
    });
  });
}

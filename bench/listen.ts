import { connect } from 'node:net';

/** Opens a WebSocket that does no more than say when something comes, so that a thousand of them cost little. */
export function listen(url: string, onHeard: (chunk: Buffer) => void): Promise<void> {
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
    socket.once('data', () => {
      socket.on('data', onHeard);
      resolve();
    });
  });
}

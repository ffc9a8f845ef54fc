import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { EngineRequest } from './engine.ts';
import { framingOf } from './request-guard.ts';

/** Returns the subprotocols that a client offers, in its order (RFC 6455 11.3.4: also over several header lines). */
export function offeredSubprotocols(req: Pick<EngineRequest, 'forEach'>): readonly string[] {
  const offered: string[] = [];
  req.forEach((name, value) => {
    if (name === 'sec-websocket-protocol') offered.push(...value.split(','));
  });
  return offered.map((subprotocol) => subprotocol.trim()).filter((subprotocol) => subprotocol !== '');
}

/** The headers that may stand once in a request (RFC 6455 11.3.1, 11.3.5). */
const ONCE: ReadonlySet<string> = new Set(['sec-websocket-key', 'sec-websocket-version']);

/** By RFC 6455 4.2.1, as far as the engine doesn't. Throws `invalid_request`, `upgrade_required` or `invalid_nonce`. */
export function checkWebSocketHandshake(req: EngineRequest): void {
  const { fault } = framingOf(req, false);
  if (fault !== undefined) throw new GatewayError('invalid_request', fault);
  if (req.getHeader('sec-websocket-version') !== '13') {
    throw new GatewayError('upgrade_required', 'only version 13 of the WebSocket protocol is supported');
  }
  const isUpgrade = /(^|,)\s*upgrade\s*(,|$)/i.test(req.getHeader('connection'));
  if (!isUpgrade || req.getHeader('upgrade').toLowerCase() !== 'websocket') {
    throw new GatewayError('upgrade_required', 'the stream is a WebSocket: send an upgrade request');
  }
  const sent = new Set<string>();
  req.forEach((name) => {
    if (ONCE.has(name) && sent.has(name)) throw new GatewayError('invalid_request', `${name} was sent twice`);
    sent.add(name);
  });
  if (!/^[A-Za-z0-9+/]{22}==$/.test(req.getHeader('sec-websocket-key'))) {
    throw new GatewayError('invalid_request', 'Sec-WebSocket-Key must be 16 bytes in base64');
  }
  if (req.getHeader('x-receipt-nonce') !== '')
    throw new GatewayError('invalid_nonce', 'the stream accepts no nonce: remove X-Receipt-Nonce');
}

import { GatewayError } from '../../../shared/domain/gateway-error.ts';
import { SUBPROTOCOL } from '../../../shared/domain/stream-protocol.ts';
import type { RequestHeaders } from '../../access/authenticator.ts';
import { valuesIn } from '../../access/limits/client-ip.ts';
import type { EngineRequest } from '../engine/engine.ts';
import { framingOf } from '../engine/request-guard.ts';

/** The headers that may stand once in a request (RFC 6455 11.3.1, 11.3.5). */
const ONCE: ReadonlySet<string> = new Set(['sec-websocket-key', 'sec-websocket-version']);

/** By RFC 6455 4.2.1, as far as the engine doesn't. Throws `invalid_request`, `upgrade_required` or `invalid_nonce`. */
export function checkWebSocketHandshake(req: EngineRequest): void {
  const { fault } = framingOf(req, false);
  if (fault !== undefined) throw new GatewayError('invalid_request', fault);
  if (req.getHeader('sec-websocket-version') !== '13') {
    throw new GatewayError('upgrade_required', 'only version 13 of the WebSocket protocol is supported');
  }
  if (!names(req, 'connection', 'upgrade') || !names(req, 'upgrade', 'websocket')) {
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

/** Returns true if a list of any case, perhaps over several lines, has a value (RFC 9110 5.3). */
const names = (req: EngineRequest, header: string, wanted: string): boolean =>
  valuesIn(req, header).some((value) => value.trim().toLowerCase() === wanted);

/** The subprotocols of an offer that are read: ours and a key are two. */
const MAX_OFFERED = 16;

/** What a client offers in Sec-WebSocket-Protocol. */
interface SubprotocolOffer {
  /** The subprotocol to answer with, never the key; `''` if the client does not offer ours (RFC 6455 4.2.2). */
  readonly subprotocol: typeof SUBPROTOCOL | '';
  /** The API key next to it; `''` for none. */
  readonly apiKey: string;
  /** The reason why the offer can't be accepted. */
  readonly fault: string | undefined;
}

/** Reads which subprotocol and API key a client offers. A client that doesn't offer ours offers no key either. */
export function readSubprotocolOffer(req: Pick<EngineRequest, 'forEach' | 'getHeader'>): SubprotocolOffer {
  // In the order of the client, perhaps over several lines (RFC 6455 11.3.4).
  const values = valuesIn(req, 'sec-websocket-protocol').slice(0, MAX_OFFERED);
  const offered = values.flatMap((text) => text.trim() || []);
  if (!offered.includes(SUBPROTOCOL)) return { subprotocol: '', apiKey: '', fault: undefined };
  const [apiKey = '', ...others] = offered.filter((subprotocol) => subprotocol !== SUBPROTOCOL);
  const header = req.getHeader('x-api-key');
  const isAmbiguous = others.length > 0 || (header !== '' && apiKey !== '' && header !== apiKey);
  const fault = isAmbiguous ? 'send one API key: in X-Api-Key, or in Sec-WebSocket-Protocol after slotgate' : undefined;
  return { subprotocol: SUBPROTOCOL, apiKey, fault };
}

/** Returns the headers with this API key, unless there is none or they have one. */
export const withApiKey = (req: RequestHeaders, apiKey: string): RequestHeaders =>
  apiKey === ''
    ? req
    : {
        getHeader: (name) => (name === 'x-api-key' ? req.getHeader(name) || apiKey : req.getHeader(name)),
        forEach: (visit) => req.forEach(visit),
      };

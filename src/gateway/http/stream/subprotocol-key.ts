import type { RequestHeaders } from '../../access/authenticator.ts';
import type { EngineRequest } from '../engine/engine.ts';
import { offeredSubprotocols } from '../engine/websocket-handshake.ts';

/** A browser sends no header with a WebSocket: it offers this subprotocol and, next to it, its API key. */
const SUBPROTOCOL = 'slotgate';

/** What a client offers in Sec-WebSocket-Protocol. */
export interface SubprotocolOffer {
  /** The subprotocol to answer with, never the key; `''` if the client does not offer ours (RFC 6455 4.2.2). */
  readonly subprotocol: typeof SUBPROTOCOL | '';
  /** The API key next to it; `''` for none. */
  readonly apiKey: string;
  /** The reason why the offer can't be accepted. */
  readonly fault: string | undefined;
}

/** Reads which subprotocol and API key a client offers. A client that doesn't offer ours offers no key either. */
export function readSubprotocolOffer(req: Pick<EngineRequest, 'forEach' | 'getHeader'>): SubprotocolOffer {
  const offered = offeredSubprotocols(req);
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

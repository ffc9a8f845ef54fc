import { isNonce } from '../../../client/verify/index.ts';
import { GatewayError } from '../../../shared/domain/gateway-error.ts';

/** Parses the header `X-Receipt-Nonce`; null without one. Throws `invalid_nonce`. */
export function parseNonce(header: string): string | null {
  if (header === '') return null;
  if (isNonce(header)) return header;
  throw new GatewayError('invalid_nonce', 'X-Receipt-Nonce must be 16 to 64 letters, digits, "-" or "_"');
}

/** Returns the error for a nonce on a request whose answer has no receipt. */
export const nonceNotApplicable = (): GatewayError =>
  new GatewayError('invalid_nonce', 'the answer has no receipt to bind a nonce to: remove X-Receipt-Nonce');

import { canonicalRequest } from '../../domain/canonical-request.ts';

/**
 * The request line that a receipt must hold for what was asked, such as `GET https://gateway/api/v1/slot`. Throws a
 * TypeError for what does not read like this, and GatewayError for a request no gateway would take.
 */
export function canonicalRequestLine(request: string): string {
  const [, method, target = ''] = /^(GET|SUB) (.*)$/s.exec(request) ?? [];
  if (method !== 'GET' && method !== 'SUB')
    throw new TypeError('the expected request must read like "GET /api/v1/slot"');
  return canonicalRequest(method, target);
}

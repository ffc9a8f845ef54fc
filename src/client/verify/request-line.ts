import { canonicalRequest } from '../../shared/domain/canonical-request.ts';

/**
 * Returns the request line that a receipt must contain for a request such as `GET https://gateway/api/v1/slot`. Throws
 * a TypeError for another form, and a GatewayError for a request that no gateway would accept.
 */
export function canonicalRequestLine(request: string): string {
  const [, method, target = ''] = /^(GET|SUB) (.*)$/s.exec(request) ?? [];
  if (method !== 'GET' && method !== 'SUB')
    throw new TypeError('the expected request must read like "GET /api/v1/slot"');
  return canonicalRequest(method, target);
}

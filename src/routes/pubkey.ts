import { z } from 'zod';
import { GatewayError } from '../domain/gateway-error.ts';
import type { ReceiptKey } from '../receipts/keys/key-ring.ts';
import { kid } from '../routing/params.ts';
import { localRoute, type RouteContext } from '../routing/route.ts';

export const pubkey = localRoute({
  path: '/pubkey',
  summary: 'The key that signs receipts; with `kid` the key of that id: past, current or next',
  params: { kid },
  result: z.strictObject({ publicKey: z.string(), algorithm: z.literal('ed25519') }),
  envelope: 'plain',
  cacheControl: 'public, max-age=300',
  isMetered: true,
  errors: ['unknown_key', 'key_revoked'],

  answer({ kid }, context) {
    const { publicKey } = findKey(kid, context);
    return { publicKey, algorithm: 'ed25519' as const };
  },

  header: {
    name: 'X-Key-Succession',
    description:
      'Succession signed by the previous key, so that whoever trusts that key can trust this one: its id, the start of ' +
      'this key (Unix milliseconds), its signature; absent if no key vouches for this one',
    pattern: '^[0-9a-f]{16};[0-9]+;[0-9a-f]{128}$',
    valueOf({ kid }, context) {
      const key = findKey(kid, context);
      const succession = context.keys.validSuccession(key);
      return succession === null ? undefined : `${succession.kid};${key.notBeforeMs};${succession.sig}`;
    },
  },
});

function findKey(kid: string | undefined, { keys }: RouteContext): ReceiptKey {
  const key = keys.find(kid ?? keys.active.kid);
  if (key === undefined) throw new GatewayError('unknown_key', 'unknown key id');
  if (key.isRevoked)
    throw new GatewayError('key_revoked', "this key was revoked: don't trust any receipt that it signed");
  return key;
}

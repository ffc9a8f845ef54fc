import { z } from 'zod';
import { GatewayError } from '../domain/gateway-error.ts';
import type { ReceiptKey } from '../receipts/keys/key-ring.ts';
import { kid } from '../routing/params.ts';
import { localRoute, type RouteContext } from '../routing/route.ts';

export const pubkey = localRoute({
  path: '/pubkey',
  summary: 'The key that signs the receipts; with `kid` the one of that id, also if it is to sign or has signed',
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
      'The word of the key before it, for who trusts that one: its id, when this one takes over (Unix milliseconds), ' +
      'its signature; absent when none vouches for this key',
    pattern: '^[0-9a-f]{16};[0-9]+;[0-9a-f]{128}$',
    valueOf({ kid }, context) {
      const key = findKey(kid, context);
      const word = context.keys.validSuccession(key);
      return word === null ? undefined : `${word.kid};${key.notBeforeMs};${word.sig}`;
    },
  },
});

function findKey(kid: string | undefined, { keys }: RouteContext): ReceiptKey {
  const key = keys.find(kid ?? keys.active.kid);
  if (key === undefined) throw new GatewayError('unknown_key', 'no such key');
  if (key.isRevoked) throw new GatewayError('key_revoked', 'this key is void, and so is every receipt it signed');
  return key;
}

import * as z from 'zod';
import { GatewayError } from '../../shared/domain/gateway-error.ts';
import type { ReceiptKey } from '../receipts/keys/key-ring.ts';
import { kid } from './routing/params.ts';
import { localRoute, type Uses } from './routing/route.ts';

export const pubkey = localRoute({
  path: '/pubkey',
  summary: 'The key that signs receipts; with `kid` the key of that id: past, current or next',
  params: { kid },
  result: z.strictObject({ publicKey: z.string(), algorithm: z.literal('ed25519') }),
  envelope: 'plain',
  cacheControl: 'public, max-age=300',
  isMetered: true,
  errors: ['unknown_key', 'key_revoked'],

  answer({ kid }, { keys }: Uses<'keys'>) {
    const { publicKey } = findKey(kid, keys);
    return { publicKey, algorithm: 'ed25519' as const };
  },

  header: {
    name: 'X-Key-Succession',
    description:
      'Succession signed by the previous key, so that whoever trusts that key can trust this one: its id, the start ' +
      'of this key (Unix milliseconds), its signature; absent if no key vouches for this one',
    pattern: '^[0-9a-f]{16};[0-9]+;[0-9a-f]{128}$',
    valueOf({ kid }, { keys }: Uses<'keys'>) {
      const key = findKey(kid, keys);
      const succession = keys.validSuccession(key);
      return succession === null ? undefined : `${succession.kid};${key.notBeforeMs};${succession.sig}`;
    },
  },
});

function findKey(kid: string | undefined, keys: Uses<'keys'>['keys']): ReceiptKey {
  const key = keys.find(kid ?? keys.active.kid);
  if (key === undefined)
    throw new GatewayError(
      'unknown_key',
      'no key of this gateway has this id: leave kid out to get the one that signs',
    );
  if (key.isRevoked)
    throw new GatewayError('key_revoked', "this key was revoked: don't trust any receipt that it signed");
  return key;
}

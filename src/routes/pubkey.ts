import { z } from 'zod';
import { GatewayError } from '../domain/error.ts';
import { kid } from './params.ts';
import { now } from './route.ts';

export const pubkey = now({
  path: '/pubkey',
  summary: 'The key that signs the receipts',
  params: { kid },
  result: z.strictObject({ publicKey: z.string(), algorithm: z.literal('ed25519') }),
  envelope: 'plain',
  cacheControl: 'public, max-age=300',
  metered: true,
  errors: ['unknown_key'],

  answer({ kid }, { publicKey, kid: active }) {
    if (kid !== undefined && kid !== active) throw new GatewayError('unknown_key', 'no such key');
    return { publicKey, algorithm: 'ed25519' as const };
  },
});

import * as z from 'zod';
import { toDotPath } from 'zod/v4/core';

export const KEY_TIERS = ['build', 'scale'] as const;

export type KeyTier = (typeof KEY_TIERS)[number];

/** In ISO 8601. A day that its month lacks would be one of the next. */
const time = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)) && z.iso.date().safeParse(text.slice(0, 10)).success);

const recordSchema = z.object({
  id: z.string().regex(/^[\w-]{1,32}$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  last4: z.string(),
  tier: z.enum(KEY_TIERS),
  label: z.string(),
  createdAt: time,
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
  /** Revoked without grace: at each gateway, whatever its clock says. */
  isRevoked: z.exactOptional(z.literal(true)),
  /** The most requests per window from one address. */
  perIpLimit: z.exactOptional(z.int().positive()),
});

const fileSchema = z.object({
  /** How often the keys of the fleet had changed; none in the file of a gateway on its own. */
  version: z.exactOptional(z.int().nonnegative()),
  keys: z.array(recordSchema),
});

export type ApiKeyRecord = Readonly<z.output<typeof recordSchema>>;

export interface VersionedKeys {
  readonly version: number;
  readonly keys: readonly ApiKeyRecord[];
}

/** `nowMs` is in Unix milliseconds. */
export const isKeyValid = ({ isRevoked, expiresAt, revokedAt }: ApiKeyRecord, nowMs: number): boolean =>
  isRevoked !== true &&
  (expiresAt === null || nowMs < Date.parse(expiresAt)) &&
  (revokedAt === null || nowMs < Date.parse(revokedAt));

/** Throws an Error that says where the text is invalid and quotes nothing of it. A file without a version has 0. */
export function parseVersionedKeys(text: string): VersionedKeys {
  const file = fileSchema.safeParse(parseJson(text));
  if (!file.success) throw new Error(`${toDotPath(file.error.issues[0]?.path ?? []) || 'the file'} is invalid`);
  const { version = 0, keys } = file.data;
  for (const member of ['id', 'sha256'] as const) {
    if (new Set(keys.map((key) => key[member])).size < keys.length) throw new Error(`two keys have the same ${member}`);
  }
  return { version, keys };
}

export const formatKeyFile = (keys: readonly ApiKeyRecord[], version?: number): string =>
  `${JSON.stringify({ ...(version !== undefined && { version }), keys }, undefined, 2)}\n`;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the file is not JSON'); // JSON.parse's own message quotes the text
  }
}

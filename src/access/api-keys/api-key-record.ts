export const KEY_TIERS = ['build', 'scale'] as const;

/** The tiers that a key can have. */
export type KeyTier = (typeof KEY_TIERS)[number];

/** An issued key, as it is kept. All times are ISO 8601. */
export interface ApiKeyRecord {
  /** Names the key wherever it is spoken of. */
  readonly id: string;
  /** Digest of the key, in hex. */
  readonly sha256: string;
  readonly last4: string;
  readonly tier: KeyTier;
  readonly label: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  /** The most requests per window from one address. */
  readonly perIpLimit?: number;
}

/** Whether a key opens anything at this moment, in Unix milliseconds. */
export const isKeyValid = ({ expiresAt, revokedAt }: ApiKeyRecord, nowMs: number): boolean =>
  (expiresAt === null || nowMs < Date.parse(expiresAt)) && (revokedAt === null || nowMs < Date.parse(revokedAt));

/** Reads the text of a key file. Throws an Error that says what is wrong with it, but nothing of what is in it. */
export function parseKeyFile(text: string): readonly ApiKeyRecord[] {
  const keys = membersOf(parse(text))['keys'];
  if (!Array.isArray(keys)) throw new Error('expected {"keys": [...]}');
  const records = keys.map(recordOf);
  for (const member of ['id', 'sha256'] as const) {
    if (new Set(records.map((record) => record[member])).size < records.length)
      throw new Error(`two keys have the same ${member}`);
  }
  return records;
}

/** The text of a key file. */
export const formatKeyFile = (keys: readonly ApiKeyRecord[]): string => `${JSON.stringify({ keys }, undefined, 2)}\n`;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('it is not JSON');
  }
}

function recordOf(value: unknown, index: number): ApiKeyRecord {
  const { id, sha256, last4, tier, label, createdAt, expiresAt, revokedAt, perIpLimit } = membersOf(value);
  const knownTier = KEY_TIERS.find((known) => known === tier);
  const isTime = (time: unknown): time is string => typeof time === 'string' && !Number.isNaN(Date.parse(time));
  const isLimit = (limit: unknown): limit is number => Number.isSafeInteger(limit) && Number(limit) > 0;
  if (typeof id !== 'string' || !/^[\w-]{1,32}$/.test(id)) throw new Error(`key ${index}: a wrong id`);
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) throw new Error(`key ${id}: a wrong sha256`);
  if (typeof last4 !== 'string' || typeof label !== 'string') throw new Error(`key ${id}: no last4 or no label`);
  if (knownTier === undefined) throw new Error(`key ${id}: a wrong tier`);
  if (!isTime(createdAt)) throw new Error(`key ${id}: a wrong createdAt`);
  if (expiresAt !== null && !isTime(expiresAt)) throw new Error(`key ${id}: a wrong expiresAt`);
  if (revokedAt !== null && !isTime(revokedAt)) throw new Error(`key ${id}: a wrong revokedAt`);
  const record = { id, sha256, last4, tier: knownTier, label, createdAt, expiresAt, revokedAt };
  if (perIpLimit === undefined) return record;
  if (!isLimit(perIpLimit)) throw new Error(`key ${id}: a wrong perIpLimit`);
  return { ...record, perIpLimit };
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

import { digestOfKey } from '../../../src/access/api-keys/api-key.ts';
import type { ApiKeyRecord } from '../../../src/access/api-keys/api-key-record.ts';
import { updateApiKeys } from '../../../src/access/api-keys/api-key-store.ts';

/** Returns the record of a key, in the build tier by default. */
export const apiKeyRecord = (key: string, more: Partial<ApiKeyRecord> = {}): ApiKeyRecord => ({
  id: key.slice(-8),
  sha256: digestOfKey(key),
  last4: key.slice(-4),
  tier: 'build',
  label: 'a label',
  createdAt: '2026-01-01T00:00:00.000Z',
  expiresAt: null,
  revokedAt: null,
  ...more,
});

/** Adds keys to a file. */
export const issueKeys = (path: string, ...records: ApiKeyRecord[]): Promise<void> =>
  updateApiKeys(path, (keys) => ({ keys: [...keys, ...records], result: undefined }));

/** Revokes a key of a file. */
export const revokeKey = (path: string, id: string): Promise<void> =>
  updateApiKeys(path, (keys) => ({
    keys: keys.map((key) => (key.id === id ? { ...key, revokedAt: '2000-01-01T00:00:00.000Z' } : key)),
    result: undefined,
  }));

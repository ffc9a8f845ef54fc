import { digestOfKey, generateApiKey } from '../../../src/gateway/access/api-keys/api-key.ts';
import type { ApiKeyRecord } from '../../../src/gateway/access/api-keys/api-key-record.ts';
import { apiKeysPath, updateApiKeys } from '../../../src/gateway/access/api-keys/api-key-store.ts';

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

/** Adds a new key to a state folder; returns it. */
export async function issueKey(state: string, more: Partial<ApiKeyRecord> = {}): Promise<string> {
  const key = generateApiKey();
  await issueKeys(apiKeysPath(state), apiKeyRecord(key, more));
  return key;
}

export const issueKeys = (path: string, ...records: ApiKeyRecord[]): Promise<void> =>
  updateApiKeys(path, (keys) => ({ keys: [...keys, ...records], result: undefined }));

export const revokeKey = (path: string, id: string): Promise<void> =>
  updateApiKeys(path, (keys) => ({
    keys: keys.map((key) => (key.id === id ? { ...key, revokedAt: '2000-01-01T00:00:00.000Z' } : key)),
    result: undefined,
  }));

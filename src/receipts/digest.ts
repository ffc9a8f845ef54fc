import { hash } from 'node:crypto';

/** SHA-256 as lower-case hex, of UTF-8 text or bytes: what a receipt's `digest` holds for a result. */
export const digestOf = (data: string | Uint8Array): string => hash('sha256', data, 'hex');

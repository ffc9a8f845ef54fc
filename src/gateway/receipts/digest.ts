import { hash } from 'node:crypto';

/** Returns the SHA-256 of UTF-8 text or bytes as lower-case hex, the form of a receipt's `digest`. */
export const digestOf = (data: string | Uint8Array): string => hash('sha256', data, 'hex');

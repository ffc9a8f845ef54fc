import { hash } from 'node:crypto';

export const digestOf = (data: string | Uint8Array): string => hash('sha256', data, 'hex');

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildProgram } from './child-process.ts';

// What tests know of a gateway that shares a Redis with others.

/** Returns the path of the receipt key of a gateway: a copy each, as on machines of their own. */
export const receiptKeyOf = (state: string): string => join(state, 'receipt-of-fleet.pem');

/** Writes a receipt key to the state folder of a gateway, which is created; returns its path. */
export function writeReceiptKey(state: string, key: string): string {
  mkdirSync(state, { recursive: true });
  const file = receiptKeyOf(state);
  writeFileSync(file, key, { mode: 0o600 });
  return file;
}

/** Returns whether a gateway leads its fleet, or has led it. */
export const hasLed = (gateway: ChildProgram): boolean => gateway.timesLogged('this gateway leads the fleet"') > 0;

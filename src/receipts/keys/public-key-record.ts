import type { Succession } from './succession.ts';

/** What is written down of a key for good, without its secret. */
export interface PublicKeyRecord {
  readonly publicKey: string;
  readonly notBeforeMs: number;
  readonly succession: Succession | null;
}

const GRAMMAR =
  /^\{"publicKey":"([1-9A-HJ-NP-Za-km-z]{32,44})","notBefore":(0|[1-9]\d{0,15}),"succession":(?:null|\{"kid":"([0-9a-f]{16})","sig":"([0-9a-f]{128})"\})\}\n$/;

/** Writes a record as its file has it. */
export const formatPublicKeyRecord = ({ publicKey, notBeforeMs, succession }: PublicKeyRecord): string =>
  `{"publicKey":"${publicKey}","notBefore":${notBeforeMs},"succession":${
    succession === null ? 'null' : `{"kid":"${succession.kid}","sig":"${succession.sig}"}`
  }}\n`;

/** Reads what {@link formatPublicKeyRecord} writes, and gives undefined for any other text. */
export function parsePublicKeyRecord(text: string): PublicKeyRecord | undefined {
  const [, publicKey, notBefore, kid, sig] = GRAMMAR.exec(text) ?? [];
  if (publicKey === undefined) return undefined;
  const succession = kid === undefined || sig === undefined ? null : { kid, sig };
  return { publicKey, notBeforeMs: Number(notBefore), succession };
}

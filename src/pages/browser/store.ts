import { textStore } from '../live/text-store.ts';

/** What this browser keeps for all its tabs, and what for this one alone. */
export const browserTexts = textStore(() => localStorage);
export const tabTexts = textStore(() => sessionStorage);

const keyName = (cluster: string): string => `slotgate.key.${cluster}`;

/** The key of the gateway as this browser first saw it, by cluster: another one must be signed for, or accepted. */
export const keyMemory = {
  keyOf: (cluster: string): string | undefined => browserTexts.read(keyName(cluster)),
  remember: (cluster: string, publicKey: string): void => browserTexts.write(keyName(cluster), publicKey),
};

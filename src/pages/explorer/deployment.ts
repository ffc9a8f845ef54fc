import type { Client } from '../../client/index.ts';
import { create } from '../browser/elements.ts';
import { figures } from './figures.ts';
import { linkTo } from './links.ts';
import type { Fact } from './tables.ts';

/** The head of an upgradeable program's data: the code behind it may have 10 MB.
 * https://docs.rs/solana-loader-v3-interface/latest/solana_loader_v3_interface/state/enum.UpgradeableLoaderState.html */
const HEAD = { offset: 0, length: 45 };
const SLOT_AT = 4;
const HAS_AUTHORITY_AT = 12;
const AUTHORITY_AT = 13;

/** What the page uses of a node's answer to `getAccountInfo`. */
interface NodeAnswer {
  readonly result: { readonly value: { readonly data: readonly [base64: string, encoding: string] } | null };
}

/** Returns when a program was last deployed, and who may deploy another one; nothing where no node says so. */
export async function deploymentFacts(client: Client, programData: string): Promise<readonly Fact[]> {
  const params = [programData, { encoding: 'base64', dataSlice: HEAD }];
  const answer = await client.post('/rpc', { method: 'getAccountInfo', params }).catch(() => undefined);
  const base64 = (answer as NodeAnswer | undefined)?.result.value?.data[0]; // a node wrote it
  if (base64 === undefined) return [];
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const slot = new DataView(bytes.buffer).getBigUint64(SLOT_AT, true);
  const authority = bytes[HAS_AUTHORITY_AT] === 1 ? linkTo(base58Of(bytes.subarray(AUTHORITY_AT))) : 'nobody';
  const right = bytes[HAS_AUTHORITY_AT] === 1 ? ' can change the program' : ': the program can’t change';
  return [
    ['Upgrade authority', create('span', {}, authority, create('span', { class: 'muted' }, right))],
    ['Last deployed', create('span', {}, 'in slot ', linkTo(String(slot), figures.integer(slot)))],
  ];
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

function base58Of(bytes: Uint8Array): string {
  let text = '';
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  for (let rest = BigInt(`0x${hex}`); rest > 0n; rest /= 58n) text = ALPHABET.charAt(Number(rest % 58n)) + text;
  const first = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(first < 0 ? bytes.length : first) + text;
}

import bs58 from 'bs58';
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

/** The rest of the account has a receipt. */
const UNSIGNED = ' (not signed)';

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
  if (bytes.length < HEAD.length) return [];
  const slot = new DataView(bytes.buffer).getBigUint64(SLOT_AT, true);
  const hasAuthority = bytes[HAS_AUTHORITY_AT] === 1;
  const authority = hasAuthority ? linkTo(bs58.encode(bytes.subarray(AUTHORITY_AT))) : 'nobody';
  const right = hasAuthority ? ' can change the program' : ': the program can’t change';
  const deployed = linkTo(String(slot), figures.integer(slot));
  return [
    ['Upgrade authority', create('span', {}, authority, create('span', { class: 'muted' }, right, UNSIGNED))],
    ['Last deployed', create('span', {}, 'in slot ', deployed, create('span', { class: 'muted' }, UNSIGNED))],
  ];
}

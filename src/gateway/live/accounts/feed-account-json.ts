import {
  CONFIG_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM_IDS,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../../shared/domain/well-known-addresses.ts';
import { decodeTokenProgramAccount } from '../../../transactions/index.ts';
import { type AccountValue, NO_BYTES } from '../../upstream/geyser/feed-update.ts';
import { digestOfToken, factsOfAccount } from '../../upstream/reads/account-facts.ts';
import { contradictionOf } from '../../upstream/rpc/facts.ts';
import { unparsedJsonOf } from './account-json.ts';

/** Owners whose accounts a node shows parsed. */
const PARSED_OWNERS = new Set([
  ...TOKEN_PROGRAM_IDS,
  LOOKUP_TABLE_PROGRAM,
  STAKE_PROGRAM,
  VOTE_PROGRAM,
  UPGRADEABLE_LOADER,
  CONFIG_PROGRAM,
  'Sysvar1111111111111111111111111111111111111',
]);

/** Returns true for an account that a node shows parsed: its data is no base64. */
export const isParsed = ({ owner, data }: AccountValue): boolean =>
  PARSED_OWNERS.has(owner) || (owner === SYSTEM_PROGRAM && data.length > 0); // a nonce

/** Returns whether a node's JSON can be of an account: it shows the same of what every honest node has alike. */
export function isOfValue(json: Buffer, value: AccountValue): boolean {
  try {
    const given = factsOfAccount(json);
    const compared = given.has('data') ? value : { ...value, data: NO_BYTES }; // it may be megabytes
    const due = new Map(factsOfAccount(Buffer.from(unparsedJsonOf(compared))));
    const token = given.has('token') ? decodeTokenProgramAccount(value) : undefined;
    if (token !== undefined) due.set('token', digestOfToken(token));
    return contradictionOf(given, due) === undefined;
  } catch {
    return false; // it is no account
  }
}

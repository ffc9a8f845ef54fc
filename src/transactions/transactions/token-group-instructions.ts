import { readOptionalPubkey } from '../codec/spl-pod.ts';
import type { InstructionLayout } from './instruction-layout.ts';
import { splDiscriminator } from './spl-discriminator.ts';

const discriminator = (name: string): string => splDiscriminator(`spl_token_group_interface:${name}`);

/** Instructions of the token-group interface, which Token-2022 implements too, by discriminator in hex. */
export const TOKEN_GROUP_INSTRUCTIONS: Readonly<Record<string, InstructionLayout>> = {
  [discriminator('initialize_token_group')]: {
    type: 'initializeTokenGroup',
    accounts: ['group', 'mint', 'mintAuthority'],
    data: (reader) => ({ updateAuthority: readOptionalPubkey(reader), maxSize: reader.u64() }),
  },
  [discriminator('update_group_max_size')]: {
    type: 'updateTokenGroupMaxSize',
    accounts: ['group', 'updateAuthority'],
    data: (reader) => ({ maxSize: reader.u64() }),
  },
  [discriminator('update_authority')]: {
    type: 'updateTokenGroupAuthority',
    accounts: ['group', 'updateAuthority'],
    data: (reader) => ({ newAuthority: readOptionalPubkey(reader) }),
  },
  [discriminator('initialize_member')]: {
    type: 'initializeTokenGroupMember',
    accounts: ['member', 'memberMint', 'memberMintAuthority', 'group', 'groupUpdateAuthority'],
  },
};

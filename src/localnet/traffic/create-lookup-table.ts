import { AccountRole, type Address, address, getProgramDerivedAddress, getU64Encoder } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Slot } from '../../shared/domain/slot.ts';
import { LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM } from '../../shared/domain/well-known-addresses.ts';
import type { Keypair } from './demo-keypair.ts';

const programAddress = address(LOOKUP_TABLE_PROGRAM);

/**
 * Plans the creation and filling of a lookup table, whose address depends on its creator and on a recent slot: `slot` must be
 * among the newest 512 blocks.
 */
export async function planLookupTable(owner: Keypair, slot: Slot, addresses: readonly Address[]) {
  const slotBytes = getU64Encoder().encode(slot);
  const seeds = [bs58.decode(owner.address), slotBytes];
  const [table, bump] = await getProgramDerivedAddress({ programAddress, seeds });
  const accounts = [
    { address: table, role: AccountRole.WRITABLE },
    { address: owner.address, role: AccountRole.READONLY_SIGNER, signer: owner },
    { address: owner.address, role: AccountRole.WRITABLE_SIGNER, signer: owner },
    { address: address(SYSTEM_PROGRAM), role: AccountRole.READONLY },
  ];
  const create = Uint8Array.of(0, 0, 0, 0, ...slotBytes, bump);
  const count = getU64Encoder().encode(addresses.length);
  const entries = addresses.flatMap((entry) => [...bs58.decode(entry)]);
  const extend = Uint8Array.of(2, 0, 0, 0, ...count, ...entries);
  return {
    address: table,
    instructions: [
      { programAddress, accounts, data: create },
      { programAddress, accounts, data: extend },
    ],
  };
}

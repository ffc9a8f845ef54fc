import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  LOADER_V1,
  LOADER_V2,
  LOADER_V4,
  LOOKUP_TABLE_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  STAKE_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  UPGRADEABLE_LOADER,
  VOTE_PROGRAM,
} from '../../domain/well-known-addresses.ts';
import type { ProgramsByRole } from './known-program.ts';

/** Solana's own programs and those that a transaction calls beside its purpose. */
export const CORE_PROGRAMS: ProgramsByRole = {
  // https://solana.com/docs/core/programs, https://solana.com/docs/core/programs/precompiles, https://www.solana-program.com
  core: [
    [SYSTEM_PROGRAM, 'System', 'SYSTEM_PROGRAM'],
    [TOKEN_PROGRAM, 'Token', 'SPL_TOKEN'],
    [TOKEN_2022_PROGRAM, 'Token-2022', 'SPL_TOKEN'],
    [ASSOCIATED_TOKEN_PROGRAM, 'Associated Token Account', 'ASSOCIATED_TOKEN_PROGRAM'],
    [STAKE_PROGRAM, 'Stake', 'STAKE_PROGRAM'],
    [VOTE_PROGRAM, 'Vote', 'VOTE_PROGRAM'],
    [COMPUTE_BUDGET_PROGRAM, 'Compute Budget', 'COMPUTE_BUDGET_PROGRAM'],
    [UPGRADEABLE_LOADER, 'program loader', 'BPF_UPGRADEABLE_LOADER'],
    [LOADER_V4, 'program loader', 'LOADER_V4'],
    [LOADER_V2, 'program loader', 'BPF_LOADER'],
    [LOADER_V1, 'program loader', 'BPF_LOADER'],
    [LOOKUP_TABLE_PROGRAM, 'Address Lookup Table', 'ADDRESS_LOOKUP_TABLE_PROGRAM'],
    ['Config1111111111111111111111111111111111111', 'Config', 'CONFIG_PROGRAM'],
    ['Feature111111111111111111111111111111111111', 'Feature', 'FEATURE_PROGRAM'],
    [MEMO_PROGRAM, 'Memo', 'MEMO_PROGRAM'],
    [MEMO_V1_PROGRAM, 'Memo', 'MEMO_PROGRAM'],
    ['Ed25519SigVerify111111111111111111111111111', 'signature check', 'ED25519_PROGRAM'],
    ['KeccakSecp256k11111111111111111111111111111', 'signature check', 'SECP256K1_PROGRAM'],
    ['Secp256r1SigVerify1111111111111111111111111', 'signature check', 'SECP256R1_PROGRAM'],
    ['ZkE1Gama1Proof11111111111111111111111111111', 'ZK ElGamal Proof', 'ZK_ELGAMAL_PROOF_PROGRAM'],
  ],

  // https://github.com/solana-foundation/explorer (app/utils/programs.ts), the makers' repositories, and the logs of
  // recorded transactions: what notes a marker, checks a slot, a time or a sequence, or collects a fee
  helper: [
    ['noopb9bkMVfRPU8AsbpTUg8AQkHtKwMYZiFUjNRtMmV', 'Noop', 'NOOP'],
    ['L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95', 'Lighthouse', 'LIGHTHOUSE'],
    ['pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ', 'Pump.fun fees', 'PUMP_FUN'],
    ['T1pyyaTNZsKv2WcRAB8oVnk93mLJw2XzjtVYqCsaHqt', 'Jito tips', 'JITO'],
    // https://github.com/drift-labs/driftpy
    ['GDDMwNyyx8uB6zrqwBFHjLLG3TBYk2F8Az4yrQC5RzMp', 'sequence check', 'SEQUENCE_ENFORCER'],
    ['9YMqQ6gsN3za6go4XddbX7okCuZG4mv94NcgGP5rpVcR', 'slot check', 'SLOT_CHECK'],
    ['4pP8eDKACuV7T2rbFPE8CHxGKDYAzSdRsdMsGvz2k4oc', 'time check', 'TIME_CHECK'],
    ['HQ2UUt18uJqKaQFJhgV9zaTdQxUZjNrsKFgoEDquBkcx', 'bloXroute', 'BLOXROUTE'],
    ['DeJBGdMFa1uynnnKiwrVioatTuHmNLpyFKnmB5kaFdzQ', 'Phantom', 'PHANTOM'],
    ['3i5JeuZuUxeKtVysUnwQNGerJP2bSMX9fTFfS4Nxe3Br', 'LI.FI', 'LI_FI'],
    ['VFeesufQJnGunv2kBXDYnThT1CoAYB45U31qGDe5QjU', 'Vector fees', 'VECTOR'],
    ['TFEEgwDP6nn1s8mMX2tTNPPz8j2VomkphLUmyxKm17A', 'Tensor fees', 'TENSOR'],
  ],

  // https://docs.pyth.network/price-feeds/core/contract-addresses/solana, https://docs.switchboard.xyz,
  // https://github.com/smartcontractkit/chainlink-solana, https://github.com/Kamino-Finance/klend-sdk (Scope)
  oracle: [
    ['gSbePebfvPy7tRqimPoVecS2UsBvYv46ynrzWocc92s', 'Pyth', 'PYTH'],
    ['FsJ3A3u2vn5cTVofAjvy6y5kwABJAqYWpe4975bi2epH', 'Pyth', 'PYTH'],
    ['rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ', 'Pyth', 'PYTH'],
    ['rec2HHDDnjLfj4kE7VyEtFA1HPGQLK33259532cRyHp', 'Pyth', 'PYTH'],
    ['pythWSnswVUd12oZpeFP8e9CVaEqJg25g1Vtc2biRsT', 'Pyth', 'PYTH'],
    ['pyt2F414BA6dPttK6RddPZUdHfapoBN24GL5wbrPCou', 'Pyth', 'PYTH'],
    ['pytd2yyk641x7ak7mkaasSJVXh6YYZnC7wTmtgAyxPt', 'Pyth Lazer', 'PYTH'],
    // the copies of Wormhole that Pyth's receivers trust
    ['HDwcJBJXjL9FpJ7UBsYBtaDjsBUhuLCUYoz3zr8SWWaQ', 'Pyth', 'PYTH'],
    ['HDw2E7P8X1SkCyjvoGsfBGAVUutKcj874bXjHrpVYrVL', 'Pyth', 'PYTH'],
    ['SBondMDrcV3K4kxZR1HNVT7osZxAHVHgYXL5Ze1oMUv', 'Switchboard', 'SWITCHBOARD'],
    ['SW1TCH7qEPTdLsDHRgPuMQjbQxKdH2aBStViMFnt64f', 'Switchboard', 'SWITCHBOARD'],
    ['sbattyXrzedoNATfc4L31wC9Mhxsi1BmFhTiN8gDshx', 'Switchboard', 'SWITCHBOARD'],
    ['2TfB33aLaneQb5TNVwyDz3jSZXS6jdW2ARw1Dgf84XCG', 'Switchboard', 'SWITCHBOARD'], // devnet
    ['HEvSKofvBgfaexv23kMabbYqxasxU3mQ4ibBMEmJWHny', 'Chainlink', 'CHAINLINK'],
    ['cjg3oHmg9uuPsP8D6g29NWvhySJkdYdAo9D25PRbKXJ', 'Chainlink', 'CHAINLINK'],
    ['Gt9S41PtjR58CbG9JhJ3J6vxesqrNAswbWYbLNTMZA3c', 'Chainlink', 'CHAINLINK'],
    ['STGhiM1ZaLjDLZDGcVFp3ppdetggLAs6MXezw5DXXH3', 'Chainlink', 'CHAINLINK'], // devnet
    ['HFn8GnPADiny6XqUoWE8uRPPxb29ikn4yTuPa9MF2fWJ', 'Scope', 'SCOPE'],
    // the prices of Lifinity's pools, which only its makers write
    ['8BR3zs8zSXetpnDjCtHWnkpSkNSydWb3PTTDuVKku2uu', 'Lifinity', 'LIFINITY'],
  ],
};

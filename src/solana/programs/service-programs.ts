import { METADATA_PROGRAM } from '../../domain/well-known-addresses.ts';
import type { ProgramsByRole } from './known-program.ts';

/** Programs that do something else with assets than trade them. Ids from the makers' repositories, named by group. */
export const SERVICE_PROGRAMS: ProgramsByRole = {
  // https://github.com/jup-ag/jupiter-lend, https://github.com/Kamino-Finance/klend-sdk,
  // https://github.com/mrgnlabs/marginfi-v2, https://github.com/solendprotocol, https://github.com/sevenlabs-hq/carbon
  lending: [
    ['jupeiUmn818Jg1ekPURTpr4mFo29p46vygyykFJ3wZC', 'Jupiter Lend', 'JUPITER'],
    ['jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9', 'Jupiter Lend', 'JUPITER'],
    ['jupr81YtYssSyPt8jbnGuiWon5f6x9TcDEFxYe3Bdzi', 'Jupiter Lend', 'JUPITER'],
    ['jupnw4B6Eqs7ft6rxpzYLJZYSnrpRgPcr589n5Kv4oc', 'Jupiter Lend', 'JUPITER'],
    ['KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD', 'Kamino', 'KAMINO_LEND'],
    ['MFv2hWf31Z9kbCa1snEPYctwafyhdvnV7FZnsebVacA', 'marginfi', 'MARGINFI'],
    ['So1endDq2YkqhipRh3WViPa8hdiSpxWy6z3Z6tMCpAo', 'Solend', 'SOLEND'],
    ['JCFRaPv7852ESRwJJGRy2mysUMydXZgVVhrMLmExvmVp', 'Citrus', 'CITRUS'],
    ['SHARKobtfF1bHhxD2eqftjHBdVSCbKo9JtgK71FhELP', 'Sharky', 'SHARKY_FI'],
  ],

  // https://github.com/drift-labs/protocol-v2, https://github.com/drift-labs/jit-proxy,
  // https://github.com/zetamarkets/sdk, https://docs.flash.trade, https://github.com/blockworks-foundation/mango-v4
  perps: [
    ['PERPHjGBqRHArX4DySjwM6UJHiR3sWAatqfdBS2qQJu', 'Jupiter Perpetuals', 'JUPITER'],
    ['dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH', 'Drift', 'DRIFT'],
    ['J1TnP8zvVxbtF5KFp5xRmWuvG9McnhzmBd9XGfCyuxFP', 'Drift', 'DRIFT'],
    ['ZETAxsqBRek56DhiGXrn75yj2NHU3aYUnxvHXpkf3aD', 'Zeta', 'ZETA'],
    ['zDEXqXEG7gAyxb1Kg9mK5fPnUdENCGKzWrM21RMdWRq', 'Zeta', 'ZETA'],
    ['FLASH6Lo6h3iasJKWDs2F8TkW2UKf3s15C8PMGuVfgBn', 'Flash Trade', 'FLASH_TRADE'],
    ['FTPP4jEWW1n8s2FEccwVfS9KCPjpndaswg7Nkkuz4ER4', 'Flash Trade', 'FLASH_TRADE'], // devnet
    ['4MangoMjqJ2firMokCjjGgoK8d4MXcrgL7XJaL3w6fVg', 'Mango', 'MANGO'],
    ['mv3ekLzLbnVPNxjSKvqBpU3ZeZXPQdEC3bp5MDEBG68', 'Mango', 'MANGO'],
    ['4skJ85cdxQAFVKbcGgfun8iZPL7BadVYXG3kGEGkufqA', 'Mango', 'MANGO'], // devnet
  ],

  // https://github.com/Kamino-Finance/kliquidity-sdk, https://github.com/drift-labs/drift-vaults,
  // https://github.com/MeteoraAg, https://github.com/stabbleorg
  vault: [
    ['KvauGMspG5k6rtzrqqn7WNn3oZdyKqLKwK2XWQ8FLjd', 'Kamino', 'KAMINO'],
    ['6LtLpnUFNByNXLyCoK9wA2MykKAmQNZKBdY8s47dehDc', 'Kamino', 'KAMINO'],
    ['FarmsPZpWu9i7Kky8tPN37rs2TpmMrAZrC7S7vJa91Hr', 'Kamino Farms', 'KAMINO'],
    ['vAuLTsyrvSfZRuRB3XgvkPwNGgYSs9YRYymVebLKoxR', 'Drift Vaults', 'DRIFT'],
    ['24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi', 'Meteora', 'METEORA'],
    ['vo1tWgqZMjG61Z2T9qUaMYKqZ75CYzMuaZ2LZP1n7HV', 'Stabble', 'STABBLE'],
  ],

  // https://www.solana-program.com/docs/stake-pool, https://github.com/marinade-finance, https://github.com/igneous-labs
  staking: [
    ['SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUNakuHy', 'Stake Pool', 'STAKE_POOL'],
    ['SP12tWFxD9oJsVWNavTTBZvMbA6gkAmxtVgxdqvyvhY', 'Sanctum', 'SANCTUM'],
    ['MarBmsSgKXdrN1egZf5sqe1TMai9K1rChYNDJgjq7aD', 'Marinade', 'MARINADE'],
    ['vBoNdEvzMrSai7is21XgVYik65mqtaKXuSdMBJ1xkW4', 'Marinade', 'MARINADE'],
    ['CrX7kMhLC3cSsXJdT7JDgqrRVWGnUpX3gfEfxxU2NVLi', 'Lido', 'SOLIDO'],
    ['sSo1iU21jBrU9VaJ8PJib1MtorefUV4fzC9GURa2KNn', 'Solayer', 'SOLAYER'],
  ],

  // https://github.com/jito-foundation/distributor, https://docs.streamflow.finance
  airdrop: [
    ['mERKcfxMC5SqJn4Ld4BUris3WKZZ1ojjWJ3A3J5CKxv', 'Jito', 'JITO'],
    ['MErKy6nZVoVAkryxAejJz2juifQ4ArgLgHmaJCQkU7N', 'Streamflow', 'STREAMFLOW'],
  ],

  // https://wormhole.com/docs, https://github.com/circlefin/solana-cctp-contracts, https://docs.mayan.finance,
  // https://github.com/across-protocol/contracts, https://docs.debridge.finance,
  // https://github.com/hyperlane-xyz/hyperlane-registry, https://github.com/zeta-chain/protocol-contracts-solana
  bridge: [
    ['worm2ZoG2kUd4vFXhvjh93UUH596ayRfgQ2MgjNMTth', 'Wormhole', 'WORMHOLE'],
    ['wormDTUJ6AWPNvk59vGQbDvGJmqbDTdgWgAqcLBCgUb', 'Wormhole', 'WORMHOLE'],
    ['CCTPmbSD7gX1bxKPAmg77w8oFzNFpaQiQUWD43TKaecd', 'Circle CCTP', 'CCTP'],
    ['CCTPiPYPc6AsJuwueEnWgSgucamXDZwBd53dQ11YiKX3', 'Circle CCTP', 'CCTP'],
    ['CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC', 'Circle CCTP', 'CCTP'],
    ['CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe', 'Circle CCTP', 'CCTP'],
    ['FC4eXxkyrMPTjiYUpp4EAnkmwMbQyZ6NDCh1kfLn6vsf', 'Mayan', 'MAYAN'],
    ['BLZRi6frs4X4DNLw56V4EXai1b6QVESN1BhHBTYM9VcY', 'Mayan', 'MAYAN'],
    ['mayan34VedncxdK2XobtvWFDXQASUTBXhUVzt2kKgny', 'Mayan', 'MAYAN'],
    ['Gx9rivpS3YR8pBFwMuP6omYqVxunpLvLkNn7ubNyuZZ5', 'Mayan', 'MAYAN'],
    ['9w1D9okTM8xNE7Ntb7LpaAaoLc6LfU9nHFs2h2KTpX1H', 'Mayan', 'MAYAN'],
    ['dkpZqrxHFrhziEMQ931GLtfy11nFkCsfMftH9u6QwBU', 'Mayan', 'MAYAN'],
    ['DLv3NggMiSaef97YCkew5xKUHDh13tVGZ7tydt3ZeAru', 'Across', 'ACROSS'],
    ['src5qyZHqTqecJV4aY6Cb6zDZLMDzrDKKezs22MPHr4', 'deBridge', 'DEBRIDGE'],
    ['dst5MGcFPoBeREFAA5E3tU5ij8m5uVYwkzkSAbsLbNo', 'deBridge', 'DEBRIDGE'],
    ['E588QtVUvresuXq2KoNEwAmoifCzYGpRBdHByN9KQMbi', 'Hyperlane', 'HYPERLANE'],
    ['BhNcatUDC2D5JTyeaqrdSukiVFsEHK7e3hVmKMztwefv', 'Hyperlane', 'HYPERLANE'],
    ['3EpVCPUgyjq2MfGeCttyey6bs5zya5wjYZ2BE6yDg6bm', 'Hyperlane', 'HYPERLANE'],
    // on Eclipse
    ['EitxJuv2iBjsg2d7jVy2LDC1e2zBrx4GB5Y9h2Ko3A9Y', 'Hyperlane', 'HYPERLANE'],
    ['Hs7KVBU67nBnWhDPZkEFwWqrFMUfJbmY2DQ4gmCZfaZp', 'Hyperlane', 'HYPERLANE'],
    ['FJu4E1BDYKVg7aTWdwATZRUvytJZ8ZZ2gQuvPfMWAz9y', 'Hyperlane', 'HYPERLANE'],
    ['BgG35GxoaMgmiam3EJzcwivwQ2DTYGPTLfUCg7bhiH6V', 'Hyperlane', 'HYPERLANE'],
    ['ZETAjseVjuFsxdRxo6MmTCvqFwb3ZHUx56Co3vCmGis', 'ZetaChain', 'ZETA_CHAIN'],
    // on devnet
    ['94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d', 'ZetaChain', 'ZETA_CHAIN'],
    ['2kJndCL9NBR36ySiQ4bmArs4YgWQu67LmCDfLzk5Gb7s', 'ZetaChain', 'ZETA_CHAIN'],
  ],

  // https://github.com/me-foundation/mmm, https://github.com/tensor-foundation
  marketplace: [
    ['M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K', 'Magic Eden', 'MAGIC_EDEN'],
    ['mmm3XBJg5gk8XJxEKBvdgptZz6SgK4tXvn36sodowMc', 'Magic Eden', 'MAGIC_EDEN'],
    ['TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN', 'Tensor', 'TENSOR'],
    ['TCMPhJdwDryooaGtiocG1u3xcYbRpiJzb283XfCZsDp', 'Tensor', 'TENSOR'],
    ['TAMM6ub33ij1mbetoMyVBLeKY5iP41i4UPUJQGkhfsg', 'Tensor', 'TENSOR'],
    ['TB1Dqt8JeKQh7RLDzfYDJsq8KS4fS2yt87avRjyRxMv', 'Tensor', 'TENSOR'],
    ['auctxRXPeJoc4817jDhf4HbjnhEcr1cCXenosMhK5R8', 'Metaplex Auction', 'METAPLEX'],
  ],

  // https://github.com/metaplex-foundation, https://github.com/rarible
  nft: [
    [METADATA_PROGRAM, 'Token Metadata', 'METAPLEX'],
    ['BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY', 'Bubblegum', 'BUBBLEGUM'],
    ['CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d', 'Metaplex Core', 'METAPLEX'],
    ['p1exdMJcjVao65QdewkaZRUnU6VPSXhus9n2GzWfh98', 'Metaplex', 'METAPLEX'],
    ['cndy3Z4yapfJBmL3ShUp5exZKqR3z33thTzeNMm2gRZ', 'Candy Machine', 'CANDY_MACHINE_V2'],
    ['cndyAnrLdpjq1Ssp1z8xxDsB8dxe7u4HL5Nxi2K5WXZ', 'Candy Machine', 'CANDY_MACHINE_V1'],
    ['CndyV3LdqHUfDLmE5naZjVN8rBZz4tqhdefbAnjHG3JR', 'Candy Machine', 'CANDY_MACHINE_V3'],
    ['Guard1JwRhJkVH6XZhzoYxeBVQe872VH6QggF4BWmS9g', 'Candy Guard', 'CANDY_GUARD'],
    ['CMACYFENjoBMHzapRXyo1JZkVS6EtaDDzkjMrmQLvr4J', 'Candy Machine', 'CORE_CANDY_MACHINE'],
    ['CMAGAKJ67e9hRZgfC5SFTbZH8MgEmtqazKXjmkaJjWTJ', 'Candy Guard', 'CORE_CANDY_GUARD'],
    ['cmtDvXumGCrqC1Age74AVPhSRVXJMd8PJS91L8KbNCK', 'State Compression', 'ACCOUNT_COMPRESSION'],
    // on Eclipse
    ['Rari9ftBd6vFdtpn8TDLwN2ze24KKkM5MLEETNiBMNn', 'Rarible', 'RARIBLE'],
    ['RariUNM3vz1rwxPg8UJyRAN7rSKXxgd2ncS2ddCa4ZE', 'Rarible', 'RARIBLE'],
    ['RariGDYwEF1jQA4kisHxBxiv1TDuBPVHNNoXFNYriFb', 'Rarible', 'RARIBLE'],
  ],

  governance: [
    ['GovER5Lthms3bLBqWub97yVrMmEogzX7xNjdXpPPCVZw', 'SPL Governance', 'SPL_GOVERNANCE'],
    ['SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf', 'Squads', 'SQUADS'],
    ['SMPLecH534NA9acpos4G6x7uf3LWbCAwZQE9e8ZekMu', 'Squads', 'SQUADS'],
  ],

  // https://github.com/staratlasmeta/star-atlas-decoders
  game: [
    ['SAGE2HAwep459SNq61LHvjxPk4pLPEJLoMETef7f7EE', 'Star Atlas', 'STAR_ATLAS'],
    ['SAGEqqFewepDHH6hMDcmWy7yjHPpyKLDnRXKb3Ki8e6', 'Star Atlas', 'STAR_ATLAS'],
    ['Cargo2VNTPPTi9c1vq1Jw5d3BWUNr18MjRtSupAghKEk', 'Star Atlas', 'STAR_ATLAS'],
    ['turboe9kMc3mSR8BosPkVzoHUfn5RVNzZhkrT2hdGxN', 'Turbo Tap', 'TURBO_TAP'], // on Eclipse
  ],

  // https://github.com/Lightprotocol/light-protocol, https://github.com/helium/helium-program-library,
  // https://github.com/jito-foundation/jito-programs, https://docs.hivemapper.com
  infra: [
    ['compr6CUsB5m2jS4Y3831ztGSTnDpnKJTKS95d64XVq', 'ZK Account Compression', 'ACCOUNT_COMPRESSION'],
    ['SySTEM1eSU2p4BGQfQpimFEWWSC1XDFeun3Nqzz3rT7', 'Light System', 'LIGHT_SYSTEM_PROGRAM'],
    ['Lighton6oQpVkeewmo2mcPTQQp7kYHr4fWpAgJyEmDX', 'Light Registry', 'LIGHT_REGISTRY'],
    ['2c54pLrGpQdGxJWUAoME6CReBrtDbsx5Tqx4nLZZo6av', 'Light Protocol', 'LIGHT_PROTOCOL'],
    // on devnet
    ['CbjvJc1SNx1aav8tU49dJGHu8EUdzQJSMtkjDmV8miqK', 'ZK Account Compression', 'ACCOUNT_COMPRESSION'],
    ['H5sFv8VwWmjxHYS2GB4fTDsK7uTtnRT4WiixtHrET3bN', 'Light System', 'LIGHT_SYSTEM_PROGRAM'],
    ['7Z9Yuy3HkBCc2Wf3xzMGnz6qpV4n7ciwcoEMGKqhAnj1', 'Light Registry', 'LIGHT_REGISTRY'],
    ['hemjuPXBpNvggtaUnN1MwT3wrdhttKEfosTcc2P9Pg8', 'Helium', 'HELIUM'],
    ['1atrmQs3eq1N2FEYWu6tyTXbCjP4uQwExpjtnhXtS8h', 'Helium', 'HELIUM'],
    ['1azyuavdMyvsivtNxPoz6SucD18eDHeXzFCUPq5XU7w', 'Helium', 'HELIUM'],
    ['BNH1dUp3ExFbgo3YctSqQbJXRFn3ffkwbcmSas8azfaW', 'Hivemapper', 'HIVEMAPPER'],
    ['4R3gSG8BpU4t19KYj8CfnbtRpnT8gtk4dvTHxVRwc2r7', 'Jito', 'JITO'],
  ],

  other: [
    ['namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX', 'Name Service', 'SPL_NAME_SERVICE'],
    ['cTokenmWW8bLPjZEBAUgYy3zKxQZW6VKi7bqNFEVv3m', 'ZK Compressed Token', 'COMPRESSED_TOKEN_PROGRAM'],
    ['HXVfQ44ATEi9WBKLSCCwM54KokdkzqXci9xCQ7ST9SYN', 'ZK Compressed Token', 'COMPRESSED_TOKEN_PROGRAM'], // devnet
    ['oreV2ZymfyeXgNgBdqMkumTqqAprVqgBWQfoYkrtKWQ', 'ORE', 'ORE'],
    ['F6fmDVCQfvnEq2KR8hhfZSEczfM9JK9fWbCsYJNbTGn7', 'Sol Incinerator', 'SOL_INCINERATOR'],
    ['GuoKrzaBiZnW5DvJ3yZVE7xHqbcBvaX9SH6P6Cn9gNvc', 'Payment Channels', 'PAYMENT_CHANNELS'],
    ['PoWSNH2hEZogtCg1Zgm51FnkmJperzYDgPK4fvs8taL', 'proof-of-work faucet', 'POW_FAUCET'], // devnet
  ],
};

import type { ProgramsByRole } from './known-program.ts';

/**
 * Programs through which assets are traded. Ids from the exchanges' own SDKs and from two lists that name the same:
 * https://github.com/cxcx-ai/solana-dex-parser, https://github.com/duneanalytics/spellbook (jupiter_solana_amms.sql and
 * the models by exchange), https://github.com/sevenlabs-hq/carbon, DFlow's list of venues. `source` as in `Source` of
 * https://github.com/helius-labs/helius-sdk, if it is there.
 */
export const TRADING_PROGRAMS: ProgramsByRole = {
  exchange: [
    ['675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8', 'Raydium', 'RAYDIUM'],
    ['5quBtoiQqxF9Jv6KYKctB59NT3gtJD2Y65kdnB1Uev3h', 'Raydium', 'RAYDIUM'],
    ['CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK', 'Raydium', 'RAYDIUM'],
    ['CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C', 'Raydium', 'RAYDIUM'],
    ['27haf8L6oxUeXrHrgEgsexjSY5hbVUWEmvv9Nyxg8vQv', 'Raydium', 'RAYDIUM'],
    ['whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc', 'Orca', 'ORCA'],
    ['9W959DqEETiGZocYWCQPaJ6sBmUzgfxXfqGeTEdp3aQP', 'Orca', 'ORCA'],
    ['DjVE6JNiYqPL2QXyCUUh8rNjHrbz9hXHNYt99MQ59qw1', 'Orca', 'ORCA'],
    ['LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo', 'Meteora', 'METEORA'],
    ['cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG', 'Meteora', 'METEORA'],
    ['Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB', 'Meteora', 'METEORA'],
    ['pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA', 'PumpSwap', 'PUMP_AMM'],
    ['2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c', 'Lifinity', 'LIFINITY'],
    ['EewxydAPCCVuNEyrVN68PuSYdQ7wKn27V9Gjeoi8dy3S', 'Lifinity', 'LIFINITY'],
    ['HyaB3W9q6XdA5xwpU4XnSZV94htfmbmqJXZcEbRaJutt', 'Invariant', 'INVARIANT'],
    ['SSwpkEEcbUqx4vtoEByFjSkhKdCT862DNVb52nZg1UZ', 'Saber', 'SABER'],
    ['MERLuDFBMmsHnsBPZw2sDQZHvXFMwp8EdjudcU2HKky', 'Mercurial', 'MERCURIAL'],
    ['swapNyd8XiQwJ6ianp9snpu4brUqFxadzvHebnAXjJZ', 'Stabble', 'STABBLE'],
    ['swapFpHZwjELNnjvThjajtiVmkz3yPQEHjLtka2fwHW', 'Stabble', 'STABBLE'],
    ['HpNfyc2Saw7RKkQd8nEL4khUcuPhQ7WwY1B2qjx8jxFq', 'PancakeSwap', 'PANCAKE_SWAP'],
    ['Dooar9JkhdZ7J3LHN3A7YCuoGRUggXhQaG4kijfLGU2j', 'STEPN', 'STEPN'],
    ['SwaPpA9LAaLfeLi3a68M4DjnLqgtticKg6CnyNwgAC8', 'Token Swap', 'TOKEN_SWAP'],
    ['REALQqNEomY6cQGZJUGwywTBD2UmDT32rZcNnfxQ5N2', 'Byreal', 'BYREAL'],
    ['vrTGoBuy5rYSxAfV3jaRJWHH6nN9WK4NRExGxsk1bCJ', 'Vertigo', 'VERTIGO'],
    ['GAMMA7meSFWaBXF25oSUgmGRwaW6sCMFLmBNiMSdbHVT', 'GooseFX', 'GOOSEFX'],
    ['SSwapUtytfBdBn1b9NUGG6foMVPtcWgpRU32HToDUZr', 'Saros', 'SAROS'],
    ['1qbkdrr3z4ryLA7pZykqxvxWPoeifcVKo6ZG9CfkvVE', 'Saros', 'SAROS'],
    ['AMM55ShdkoGRB5jVYPjWziwk8m5MpwyDgsMWHaMSQWH6', 'Aldrin', 'ALDRIN'],
    ['CURVGoZn8zycx6FXwwevgBTB2gVvdbGTEpvMJDbgs2t4', 'Aldrin', 'ALDRIN'],
    ['CLMM9tUoggJu2wagPkkqs9eFG4BWhVBZWkP1qv3Sp7tR', 'Crema', 'CREMA'],
    ['DEXYosS6oEGvk8uCDayvwEZz4qEyDJRf9nFgYCaqPMTm', '1Dex', 'ONE_DEX'],
    ['BSwp6bEBihVLdqJRKGgzjcGLHkcTuzmSo1TQkHepzH8p', 'BonkSwap', 'BONK_SWAP'],
    ['FLUXubRmkEi2q6K3Y9kBPg9248ggaZVsoSFhtJHSrm1X', 'FluxBeam', 'FLUX_BEAM'],
    ['srAMMzfVHVAtgSJc8iH6CfKzuWuUTzLHVCE81QU1rgi', 'Gavel', 'GAVEL'],
    ['stkitrT1Uoy18Dk1fTrgPw8W6MVzoCfYoAFT4MLsmhq', 'Sanctum', 'SANCTUM'],
    ['5ocnV1qiCgaQR8Jb8xWnVbApfaygJ8tNoZfgPwsgx9kx', 'Sanctum', 'SANCTUM'],
    ['kdexv89r17wFQN1MY3auCX7QgWFyshWAji2LsLRVUQU', 'KDEX', 'KDEX'],
    ['gatorLx9aC1e5ZWAXscv5QRKiLXnLPLXjftVc81h1Hr', 'GatorSwap', 'GATOR_SWAP'],
    ['5pXzd9UiWrVxATCYWmgo5EbfxzXqHYhfSKGdCPXPz7vK', 'Doppler', 'DOPPLER'],
    ['FUTARELBfJfQ8RDGhg1wdhddq1odMAJUePHFuBYfUxKq', 'MetaDAO', 'META_DAO'],
    ['DRVSpZ2YUYYKgZP8XtLhAGtT1zYSCKzeHfb4DgRnrgqD', 'Deriverse', 'DERIVERSE'],
  ],

  aggregator: [
    ['JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4', 'Jupiter', 'JUPITER'],
    ['JUP4Fb2cqiRUcaTHdrPC8h2gNsA2ETXiPDD33WcGuJB', 'Jupiter', 'JUPITER'],
    ['JUP2jxvXaqu7NQY1GmNF4m1vodw12LVXYxbFL2uJvfo', 'Jupiter', 'JUPITER'],
    ['routeUGWgWzqBWFcrCfv8tritsqukccJPu3q5GPP3xS', 'Raydium', 'RAYDIUM'],
    ['6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma', 'OKX', 'OKX_DEX_ROUTER'],
    ['HV1KXxWFaSeriyFvXyx48FqG9BoFbfinB8njCJonqP7K', 'OKX', 'OKX_DEX_ROUTER'],
    ['proVF4pMXVaYqmy4NjniPh4pqKNfMmsihgd4wdkCX3u', 'OKX', 'OKX_DEX_ROUTER'],
    ['DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH', 'DFlow', 'DFLOW'],
    ['T1TANpTeScyeqVzzgNViGDNrkQ6qHz9KrSBS4aNXvGT', 'Titan', 'TITAN'],
    ['BSfD6SHZigAfDWSjzD5Q41jw8LmKwtmjskPH9XW1mrRW', 'Photon', 'PHOTON'],
    ['AxiomfHaWDemCFBLBayqnEnNwE6b7B2Qz3UmzMpgbMG6', 'Axiom', 'AXIOM'],
    ['FLASHX8DrLbgeR8FcfNV1F5krxYcYMUdBkrP1EPBtxB9', 'Axiom', 'AXIOM'],
    ['b1oomGGqPKGD6errbyfbVMBuzSC8WtAAYo8MwNafWW1', 'Bloom', 'BLOOM'],
    ['BANANAjs7FJiPQqJTGFzkZJndT9o7UmKiYYGaJz6frGu', 'Banana Gun', 'BANANA_GUN'],
    ['minTcHYRLVPubRK8nt6sqe2ZpWrGDLQoNLipDJCGocY', 'Mintech', 'MINTECH'],
    ['MaestroAAe9ge5HTc64VbBQZ6fP77pwvrhM8i1XWSAx', 'Maestro', 'MAESTRO'],
    ['NoVA1TmDUqksaj2hB1nayFkPysjJbFiU76dT4qPw2wm', 'Nova', 'NOVA'],
    ['JSW99DKmxNyREQM14SQLDykeBvEUG63TeohrvmofEiw', 'ApePro', 'APE_PRO'],
    ['GMgnVFR8Jb39LoXsEVzb3DvBy3ywCmdmJquHUy1Lrkqb', 'GMGN', 'GMGN'],
    ['9Fox6i7oT8p4qHn76Qj3dks8RRMGsXQyfMSBScA5yVyX', 'Padre', 'PADRE'],
    ['AFW9KCZtmtMWuhuLkF5mLY9wsk7SZrpZmuKijzcQ51Ni', 'BullX', 'BULLX'],
    ['term9YPb9mzAsABaqN71A4xdbxHmpBNZavpBiQKZzN3', 'Padre', 'PADRE'],
  ],

  // including what only writes a maker's prices
  marketMaker: [
    ['SoLFiHG9TfgtdUXUjWAxi3LtvYuFyDLVhBWxdMZxyCe', 'SolFi', 'SOLFI'],
    ['SV2EYYJyRz2YhfXwXnhNAevDEui5Q6yrfyo13WtupPF', 'SolFi', 'SOLFI'],
    ['E2uCGJ4TtYyKPGaK57UMfbs9sgaumwDEZF1aAY6fF3mS', 'SolFi', 'SOLFI'],
    ['ZERor4xhbUycZ6gb9ntrhqscUcZmAbQDjEAtCf4hbZY', 'ZeroFi', 'ZEROFI'],
    ['9H6tua7jkLhdm3w8BvgpTn5LZNU7g4ZynDmCiNN3q6Rp', 'HumidiFi', 'HUMIDIFI'],
    ['TessVdML9pBGgG9yGks7o4HewRaXVAMuoVj4x83GLQH', 'Tessera', 'TESSERA'],
    ['goonERTdGsjnkZqWuVjs73BZ3Pb9qoCUdBUL17BnS5j', 'GoonFi', 'GOONFI'],
    ['obriQD1zbpyLz95G5n7nJe6a4DPjpFwa5XYPoNm113y', 'Obric', 'OBRIC'],
    ['Minimox7jqQmMpF6Z34DTNwE9iJyNkruzvvYQRaHpAP', 'Obric', 'OBRIC'],
    ['BiSoNHVpsVZW2F7rx2eQ59yQwKxzU5NvBcmKshCSUypi', 'BisonFi', 'BISONFI'],
    ['ALPHAQmeA7bjrVuccPsYPiCvsi428SNwte66Srvs4pHA', 'AlphaQ', 'ALPHAQ'],
    ['AQU1FRd7papthgdrwPTTq5JacJh8YtwEXaBfKU3bTz45', 'Aquifer', 'AQUIFER'],
    ['SCoRcH8c2dpjvcJD6FiPbCSQyQgu3PcUAWj2Xxx3mqn', 'Scorch', 'SCORCH'],
    ['JanusXpm3gsW3c9ErNoUgHppL8dGLvZKB7uekkJEYFP', 'JanusFi', 'JANUSFI'],
  ],

  orderBook: [
    ['PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY', 'Phoenix', 'PHOENIX'],
    ['MNFSTqtC93rEfYHB6hF82sKdZpUDFWkViLByLd1k1Ms', 'Manifest', 'MANIFEST'],
    ['opnb2LAfJYbRMAHHvqjCwQxanZn7ReEHp1k81EohpZb', 'OpenBook', 'OPENBOOK'],
    ['srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX', 'OpenBook', 'OPENBOOK'],
    ['9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin', 'Serum', 'SERUM'],
  ],

  // https://dev.jup.ag, https://github.com/pyth-network/pyth-crosschain (Kamino's limit orders)
  orders: [
    ['DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M', 'Jupiter DCA', 'JUPITER'],
    ['VALaaymxQh2mNy2trH9jUqHT1mTow76wpTcGmSWSwJe', 'Jupiter VA', 'JUPITER'],
    ['jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu', 'Jupiter Limit Order', 'JUPITER'],
    ['j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X', 'Jupiter Limit Order', 'JUPITER'],
    ['61DFfeTKM7trxYcPQCM78bJ794ddZprZpAwAnLiwTpYH', 'JupiterZ', 'JUPITER'],
    ['LiMoM9rMhrdYrfzUCxQppvxCSG1FcrUK9G8uLq4A1GF', 'Kamino Swap', 'KAMINO'],
  ],

  launchpad: [
    ['6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P', 'Pump.fun', 'PUMP_FUN'],
    ['LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj', 'Raydium LaunchLab', 'RAYDIUM'],
    ['dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN', 'Meteora', 'METEORA'],
    ['MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG', 'Moonshot', 'MOONSHOT'],
    ['boop8hVGQGqehUK2iVEMEnMrL5RbjywRzHKBmBE7ry4', 'Boop', 'BOOP'],
    ['HEAVENoP2qxoeuF8Dj2oT1GHEnu49U5mJYkdeC8BAX2o', 'Heaven', 'HEAVEN'],
    ['4carc9eePfE7jKUXdCAYMhcPf4awEFpZPrz1sTykdss1', 'Doppler', 'DOPPLER'],
  ],

  arbitrageBot: [
    ['MEViEnscUm6tsQRoGd9h6nLQaQspKj7DB2M5FwM3Xvz', 'Solana MEV Bot', 'SOLANA_MEV_BOT'],
    ['NA247a7YE9S3p9CdKmMyETx8TTwbSdVbVYHHxpnHTUV', 'NotArb', 'NOT_ARB'],
  ],
};

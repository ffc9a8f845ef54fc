/**
 * Instructions by program: the first bytes of the data in hexadecimal, the maker's name, the type (`-`: none), positions
 * of accounts by role. Made by generation/generate-program-instructions.ts from generation/sources.
 */
export const PROGRAM_INSTRUCTIONS: Readonly<Record<string, string>> = {
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/okx-dex-decoder (2026-04-30)
  '6m2CDdhRgxpH4WjvdzxAYbGxwdGUz5MziiL5jek2kBma': `
813b450a844c2314 commission_sol_from_swap SWAP user=0 inputMint=3 outputMint=4
1e21d05b1f9d2512 commission_sol_proxy_swap SWAP user=0 inputMint=3 outputMint=4
5180864972492d5e commission_sol_swap SWAP user=0 inputMint=3 outputMint=4
71841f4a63a93992 commission_sol_swap2 SWAP user=0 inputMint=3 outputMint=4
054d9032dee4e9ab commission_spl_from_swap SWAP user=0 inputMint=3 outputMint=4
60430c9781a41247 commission_spl_proxy_swap SWAP user=0 inputMint=3 outputMint=4
eb47d3c472c78f5c commission_spl_swap SWAP user=0 inputMint=3 outputMint=4
ad834e2696a57b0f commission_spl_swap2 SWAP user=0 inputMint=3 outputMint=4
85ba0f691f4c1f70 from_swap_log -
132c829448382cee proxy_swap SWAP user=0 inputMint=3 outputMint=4
f8c69e91e17587c8 swap SWAP user=0 inputMint=3 outputMint=4
414b3f4ceb5b5b88 swap2 SWAP user=0 inputMint=3 outputMint=4
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/onchain-labs-dex-v2-decoder (2026-04-30)
  proVF4pMXVaYqmy4NjniPh4pqKNfMmsihgd4wdkCX3u: `
3ec6d6c1d59f6cd2 claim -
93f17b64f484ae76 create_token_account -
7dbfef8c420809e4 create_token_account_with_seed -
132c829448382cee proxy_swap SWAP user=0 inputMint=3 outputMint=4
f8c69e91e17587c8 swap SWAP user=0 inputMint=3 outputMint=4
aa2955b184501f35 swap_tob SWAP user=0 inputMint=3 outputMint=4
be9ca9b0959aa16c swap_tob_enhanced SWAP user=0 inputMint=3 outputMint=4
dfaad8eacc06f119 swap_tob_with_receiver SWAP user=0 inputMint=3 outputMint=4
bbc9d433109bec3c swap_toc SWAP user=0 inputMint=3 outputMint=4
7fd66bbd175a2f68 swap_toc_v2 SWAP user=0 inputMint=3 outputMint=4
dc658bf929be76c7 wrap_unwrap -
7b192f86e9a7abaa wrap_unwrap_with_receiver -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/dflow-aggregator-v4-decoder (2026-04-30)
  DF1ow4tspfHX9JwWJsAb9epbkA8hmpSEAtxXy1V27QBH: `
5a67d11c073fa804 close_order CANCEL_ORDER order=0
2ee829905525aaaf create_referral_token_account_idempotent -
e87a7319c78f88a2 fill_order FILL_ORDER keeper=9 order=0 inputMint=6 outputMint=8
ce58588f268832e0 open_order OPEN_ORDER owner=6 order=0 inputMint=5
f8c69e91e17587c8 swap SWAP user=3
414b3f4ceb5b5b88 swap2 SWAP user=3
5f7bd5f67a0156e7 swap2_with_destination SWAP user=3 outputMint=6
de64b892bac469a5 swap2_with_destination_native SWAP user=3
a8ac184dc59c8765 swap_with_destination SWAP user=3 outputMint=6
cd4d7f6cf120c4c3 swap_with_destination_native SWAP user=3
81a4c415b130b4a2 transfer_fee -
4e0aecf76d75154c transfer_sol -
9bb38297c48bfda3 transfer_to_sponsor -
63280e692d6bacc9 unwrap_sol -
2f3e9bac83cd25c9 wrap_sol -
`,
  // https://solscan.io/tx/2bmy1wg4y6QCnW9iC143Ygcgtd7wqgByhVkUoXQGh6efVvYy9wm4bp8z3LJDYjzdtv6EmG2zakd6Zn19jMfq9gCH (2025-08-22)
  GMgnVFR8Jb39LoXsEVzb3DvBy3ywCmdmJquHUy1Lrkqb: `
66063d1201daebea buy SWAP
`,
  // https://solscan.io/tx/54qTQpVAvMj6PyU3byhpF3qvKzDhkVgSq94t8HZ7Dcg5mH2ohkW2aoenjGqPMBgsz5pWUQVoEaFStP8p69qGzQR5 (2025-08-22)
  BSfD6SHZigAfDWSjzD5Q41jw8LmKwtmjskPH9XW1mrRW: `
3cadf767045d8230 collect_fee -
52e177e74e1d2d46 pump_buy SWAP
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/circle-message-transmitter-v2-decoder (2026-04-30)
  CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC: `
ac172b0deed55596 accept_ownership BRIDGE
3dab835fac0fe3e5 disable_attester BRIDGE user=0
020bc173059404c6 enable_attester BRIDGE user=0
afaf6d1f0d989bed initialize BRIDGE user=0
90486b9423da1fbb is_nonce_used BRIDGE
d316ddfb4a79c12f pause BRIDGE
26907fe11fe1ee19 receive_message BRIDGE user=0
5ec6b49f83ec0fae reclaim_event_account BRIDGE
392822b2bd0a411a send_message BRIDGE
a8b20875d9a7db1f set_max_message_body_size BRIDGE user=0
a3139aa852d1d6db set_signature_threshold BRIDGE
41b1d749352d632f transfer_ownership BRIDGE user=0
a99004260a8dbcff unpause BRIDGE
aff5b26855b34710 update_attester_manager BRIDGE user=0
8cabd38439c910fe update_pauser BRIDGE user=0
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/circle-token-messenger-v2-decoder (2026-04-30)
  CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe: `
ac172b0deed55596 accept_ownership BRIDGE
d5c7cd12627c49c6 add_local_token BRIDGE user=0
0c95aca56fca1821 add_remote_token_messenger BRIDGE user=1
e988b4af70293e47 burn_token_custody BRIDGE
6574c57051f94bc2 denylist_account BRIDGE user=0
d73c3d2e723780b0 deposit_for_burn BRIDGE user=0
6ff53e83cc6cdf9b deposit_for_burn_with_hook BRIDGE user=0
bafcef4656b46e5f handle_receive_finalized_message BRIDGE
c8a9af14c83ab63d handle_receive_unfinalized_message BRIDGE
afaf6d1f0d989bed initialize BRIDGE user=0
44a218687d2e820c link_token_pair BRIDGE user=0
d316ddfb4a79c12f pause BRIDGE
1b2b42aabc2c6d61 remove_local_token BRIDGE
41724255a962b192 remove_remote_token_messenger BRIDGE user=1
e312d72aedf69742 set_fee_recipient BRIDGE user=0
1e8091f046ed6dcf set_max_burn_amount_per_message BRIDGE
72c6230329c4c2f6 set_min_fee BRIDGE
c38e4a54ea5eb471 set_min_fee_controller BRIDGE user=0
5806620a4f3b0f18 set_token_controller BRIDGE user=0
41b1d749352d632f transfer_ownership BRIDGE user=0
39242ba83eac2127 undenylist_account BRIDGE user=0
34c6647268ae553a unlink_token_pair BRIDGE
a99004260a8dbcff unpause BRIDGE
c142c6c954390ede update_denylister BRIDGE user=0
8cabd38439c910fe update_pauser BRIDGE user=0
`,
  // https://github.com/across-protocol/contracts/blob/8ab073067d/idls/message_transmitter.json (2026-06-11)
  CCTPmbSD7gX1bxKPAmg77w8oFzNFpaQiQUWD43TKaecd: `
afaf6d1f0d989bed initialize BRIDGE user=0
41b1d749352d632f transfer_ownership BRIDGE user=0
ac172b0deed55596 accept_ownership BRIDGE
8cabd38439c910fe update_pauser BRIDGE user=0
aff5b26855b34710 update_attester_manager BRIDGE user=0
d316ddfb4a79c12f pause BRIDGE
a99004260a8dbcff unpause BRIDGE
a8b20875d9a7db1f set_max_message_body_size BRIDGE user=0
020bc173059404c6 enable_attester BRIDGE user=0
3dab835fac0fe3e5 disable_attester BRIDGE user=0
a3139aa852d1d6db set_signature_threshold BRIDGE
392822b2bd0a411a send_message BRIDGE
d42f22345b20b0cc send_message_with_caller BRIDGE
bdbdd2a395cd45e5 replace_message BRIDGE
26907fe11fe1ee19 receive_message BRIDGE user=0
5ec6b49f83ec0fae reclaim_event_account BRIDGE
7246e5d4df322127 get_nonce_pda BRIDGE
90486b9423da1fbb is_nonce_used BRIDGE
`,
  // https://github.com/across-protocol/contracts/blob/8ab073067d/idls/token_messenger_minter.json (2026-06-11)
  CCTPiPYPc6AsJuwueEnWgSgucamXDZwBd53dQ11YiKX3: `
afaf6d1f0d989bed initialize BRIDGE user=0
41b1d749352d632f transfer_ownership BRIDGE user=0
ac172b0deed55596 accept_ownership BRIDGE
0c95aca56fca1821 add_remote_token_messenger BRIDGE user=1
41724255a962b192 remove_remote_token_messenger BRIDGE user=1
d73c3d2e723780b0 deposit_for_burn BRIDGE user=0
a7de137255150e76 deposit_for_burn_with_caller BRIDGE user=0
071b5d84015013a3 replace_deposit_for_burn BRIDGE user=0
856601b4910b8ab4 handle_receive_message BRIDGE
5806620a4f3b0f18 set_token_controller BRIDGE user=0
d316ddfb4a79c12f pause BRIDGE
a99004260a8dbcff unpause BRIDGE
8cabd38439c910fe update_pauser BRIDGE user=0
1e8091f046ed6dcf set_max_burn_amount_per_message BRIDGE
d5c7cd12627c49c6 add_local_token BRIDGE user=0
1b2b42aabc2c6d61 remove_local_token BRIDGE
44a218687d2e820c link_token_pair BRIDGE user=0
34c6647268ae553a unlink_token_pair BRIDGE
e988b4af70293e47 burn_token_custody BRIDGE
`,
  // https://github.com/wormhole-foundation/wormhole/blob/640e184887/solana/idl/wormhole.json (2026-08-03)
  worm2ZoG2kUd4vFXhvjh93UUH596ayRfgQ2MgjNMTth: `
00 initialize BRIDGE user=3
01 post_message BRIDGE user=4
02 post_vaa BRIDGE user=4
03 set_fees BRIDGE user=0
04 transfer_fees BRIDGE user=0
05 upgrade_contract BRIDGE user=0
06 upgrade_guardian_set BRIDGE user=0
07 verify_signatures BRIDGE user=0
08 post_message_unreliable BRIDGE user=4
`,
  // https://github.com/wormhole-foundation/wormhole/blob/640e184887/solana/idl/token_bridge.json (2026-08-03)
  wormDTUJ6AWPNvk59vGQbDvGJmqbDTdgWgAqcLBCgUb: `
00 initialize BRIDGE user=0
01 attest_token BRIDGE user=0
02 complete_native BRIDGE user=0
03 complete_wrapped BRIDGE user=0
04 transfer_wrapped BRIDGE user=0
05 transfer_native BRIDGE user=0
06 register_chain BRIDGE user=0
07 create_wrapped BRIDGE user=0
08 upgrade_contract BRIDGE user=0
09 transfer_wrapped_with_payload BRIDGE user=13
0a transfer_native_with_payload BRIDGE user=13
`,
  // https://github.com/across-protocol/contracts/blob/8ab073067d/programs/svm-spoke/src/lib.rs (2026-06-11)
  DLv3NggMiSaef97YCkew5xKUHDh13tVGZ7tydt3ZeAru: `
afaf6d1f0d989bed initialize BRIDGE
cebacb99fd3dce7a pause_deposits BRIDGE
5c72d6310df34923 pause_fills BRIDGE
41b1d749352d632f transfer_ownership BRIDGE
66ceed6a3f8d2af8 set_cross_domain_admin BRIDGE
450ddfccfb3d6906 relay_root_bundle BRIDGE
e29e014a54711898 emergency_delete_root_bundle BRIDGE
f223c68952e1f2b6 deposit BRIDGE user=0 vault=4 mint=5
4be487ddc819941a deposit_now BRIDGE user=0 vault=4 mint=5
c4bba6b3039296f6 unsafe_deposit BRIDGE user=0 vault=4 mint=5
6454de5a6ad13ade fill_relay BRIDGE user=0 mint=4
e027d04408e217d6 close_fill_pda BRIDGE user=0
cd2222e0cc6751b0 claim_relayer_refund BRIDGE user=0 vault=3 mint=4
1b889ff07f447ba4 execute_relayer_refund_leaf BRIDGE
6e7059d026745d0a execute_relayer_refund_leaf_deferred BRIDGE
0153ff3be83740d8 bridge_tokens_to_hub_pool BRIDGE
16f7d6bf5a4a57d8 initialize_claim_account BRIDGE user=0
f192cbd83ade5b76 close_claim_account BRIDGE user=0
279da5bb58d9cf62 request_slow_fill BRIDGE user=0
1acf03a8c1fc3b7f execute_slow_relay_leaf BRIDGE
856601b4910b8ab4 handle_receive_message BRIDGE
`,
  // https://github.com/zeta-chain/protocol-contracts-solana/blob/d3c9fe0788/programs/gateway/src/lib.rs (2025-09-30)
  'ZETAjseVjuFsxdRxo6MmTCvqFwb3ZHUx56Co3vCmGis 94U5AHQMKkV5txNJ17QPXWoh474PheGou6cNP2FEuL1d 2kJndCL9NBR36ySiQ4bmArs4YgWQu67LmCDfLzk5Gb7s': `
afaf6d1f0d989bed initialize BRIDGE
5495d1e9e442c3ed increment_nonce BRIDGE
82ddf29a0dc1bd1d execute BRIDGE
4457a203dadeec79 execute_revert BRIDGE
79634f454df32ec7 execute_spl_token BRIDGE
f0a02cfd83259fc4 execute_spl_token_revert BRIDGE
62b38d18f678a48f set_deposit_paused BRIDGE
e38803f2b1a80aa0 update_tss BRIDGE
202e401c954bf358 update_authority BRIDGE
688b6e55ea9b84f8 reset_nonce BRIDGE
1e6ea22ad093fedb whitelist_spl_mint BRIDGE
498e3fbfe9eeaa68 unwhitelist_spl_mint BRIDGE
f223c68952e1f2b6 deposit BRIDGE user=0
4121bac672df8539 deposit_and_call BRIDGE user=0
56acd4793fe96090 deposit_spl_token BRIDGE user=0
0eb51bbbab3ded93 deposit_spl_token_and_call BRIDGE user=0
b55e38a1c2ddc803 call BRIDGE user=0
b712469c946da122 withdraw BRIDGE
db9cea0b59ebf620 withdraw_spl_token BRIDGE
0580b4730df8d9a7 upgraded BRIDGE
`,
  // https://solscan.io/tx/5ZhAdmw29qFWBm3skdGidJMnv2EkrYxC6Kz9xfRDcUJ2Dug67gwTo7NmC32xuXKApbyyGDvRiD1ATdD5e375qGGA (2025-08-22)
  '9w1D9okTM8xNE7Ntb7LpaAaoLc6LfU9nHFs2h2KTpX1H': `
c738552692f3259e bid BRIDGE
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/meteora-pools-decoder (2026-04-30)
  Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB: `
a8e3323ebdab54b0 add_balance_liquidity ADD_TO_POOL user=13 pool=0
4f237a54ad0f5dbf add_imbalance_liquidity ADD_TO_POOL user=13 pool=0
04e4d747e1fd77ce bootstrap_liquidity ADD_TO_POOL user=13 pool=0
a9204f8988e84689 claim_fee CLAIM user=3 pool=0
9109489d5f7d3d55 close_config -
c9cff3724b6f2fbd create_config -
3657a51345e3dae0 create_lock_escrow -
0d46a829fa64945a create_mint_metadata -
8006e48337a134a9 enable_or_disable_pool -
0930dc6516f04ec8 get_pool_info -
9118acc2db7d03be initialize_customizable_permissionless_constant_product_pool ADD_TO_POOL user=17 pool=0
4d55b29d3230d47e initialize_permissioned_pool ADD_TO_POOL pool=0
07a68aabceabecf4 initialize_permissionless_constant_product_pool_with_config ADD_TO_POOL user=18 pool=0
3095dc823d0b09b2 initialize_permissionless_constant_product_pool_with_config2 ADD_TO_POOL user=18 pool=0
76ad299dad486167 initialize_permissionless_pool ADD_TO_POOL user=17 pool=0
06874493e552a971 initialize_permissionless_pool_with_fee_tier ADD_TO_POOL user=17 pool=0
1513d02bed3eff57 lock -
6256cc335e4745bb override_curve_param -
3935b01e7b463440 partner_claim_fee -
856d2cb338ee7221 remove_balance_liquidity REMOVE_FROM_POOL user=13 pool=0
5454b142feb90afb remove_liquidity_single_side REMOVE_FROM_POOL user=12 pool=0
662c9e36cd257e4e set_pool_fees -
0c945e2a373953f7 set_whitelisted_vault -
f8c69e91e17587c8 swap SWAP user=12 pool=0
963e7ddbabdc1aed update_activation_point -
0b44a56212d08649 withdraw_protocol_fees -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/meteora-damm-v2-decoder (2026-04-30)
  cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG: `
b59d59438fb63448 add_liquidity ADD_TO_POOL user=9 pool=0
61ce27695e5e7e94 claim_partner_fee CLAIM pool=1
b4269a118521a2d3 claim_position_fee CLAIM user=10 pool=1
a5e4853063f9ff21 claim_protocol_fee -
955fb5f25e5a9ea2 claim_reward CLAIM user=7 pool=1
9109489d5f7d3d55 close_config -
ab09d54a7817031d close_operator_account -
7b86510031446262 close_position -
6c92566eb3fe0a68 close_token_badge -
c9cff3724b6f2fbd create_config -
51fb7a4e4239d052 create_dynamic_config -
dd40f695f099e5a3 create_operator_account -
30d7c59960cbb485 create_position -
58ce005b3caf9776 create_token_badge -
ea5fb0b9072a239f dummy_ix -
bc32f9a55d97263f fund_reward -
14a1f118bdddb402 initialize_customizable_pool ADD_TO_POOL user=3 pool=5
5fb40aac54aee828 initialize_pool ADD_TO_POOL user=3 pool=6
955248c5fdfc440f initialize_pool_with_dynamic_config ADD_TO_POOL user=3 pool=7
5f87c0c4f281e644 initialize_reward -
e33e02fcf70aabb9 lock_position -
a5b07d06e7abbad5 permanent_lock_position -
095ed80e74ccf700 refresh_vesting -
0a333d2370691855 remove_all_liquidity REMOVE_FROM_POOL user=10 pool=1
5055d14818ceb16c remove_liquidity REMOVE_FROM_POOL user=10 pool=1
705787df53cc8435 set_pool_status -
acf1dd8aa11dfd2a split_position -
dd93e4cf8cd41177 split_position2 -
f8c69e91e17587c8 swap SWAP user=8 pool=1
414b3f4ceb5b5b88 swap2 SWAP user=8 pool=1
76d9cbb33c084659 update_pool_fees -
8aaec4a9d5ebfe6b update_reward_duration -
d31c3020d7a02317 update_reward_funder -
94ce2ac3f7316708 withdraw_ineligible_reward -
`,
  // https://github.com/MeteoraAg/dlmm-sdk/blob/fb02e51ae6/idls/dlmm.json (2026-07-23)
  LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo: `
b59d59438fb63448 add_liquidity ADD_TO_POOL user=11 pool=1
e4a24e1c46db7473 add_liquidity2 ADD_TO_POOL user=9 pool=1
0703967f94283dc8 add_liquidity_by_strategy ADD_TO_POOL user=11 pool=1
03dd95da6f8d76d5 add_liquidity_by_strategy2 ADD_TO_POOL user=9 pool=1
2905eeaf64e106cd add_liquidity_by_strategy_one_side ADD_TO_POOL user=8 pool=1
1c8cee63e7a21595 add_liquidity_by_weight ADD_TO_POOL user=11 pool=1
d13b3f5b6fc899e4 add_liquidity_by_weight2 ADD_TO_POOL user=9 pool=1
5e9b6797465fdca5 add_liquidity_one_side ADD_TO_POOL user=8 pool=1
a1c26754ab47fa9a add_liquidity_one_side_precise ADD_TO_POOL user=8 pool=1
2133a3c975627de7 add_liquidity_one_side_precise2 ADD_TO_POOL user=6 pool=1
849c841f4328e861 cancel_limit_order CANCEL_ORDER owner=9 order=6
a9204f8988e84689 claim_fee CLAIM user=4 pool=0
70bf65ab1c907fbb claim_fee2 CLAIM user=2 pool=0
955fb5f25e5a9ea2 claim_reward CLAIM user=4 pool=0
be037f77b2579db7 claim_reward2 CLAIM user=2 pool=0
44ae5850b5cc13e0 close_bin_array -
b8d5581fb3658224 close_claim_fee_operator_account -
397c249b7ef95dab close_limit_order_if_empty -
ab09d54a7817031d close_operator_account -
7b86510031446262 close_position -
ae5a2373ba2893e2 close_position2 -
3b7cd4765b986e9d close_position_if_empty -
04949164861ab53d close_preset_parameter -
27195f6b7411731c close_preset_parameter2 -
6c92566eb3fe0a68 close_token_badge -
dd40f695f099e5a3 create_operator_account -
c2db882019606925 decrease_position_length -
b46945505f32496c for_idl_type_generation_do_not_call -
bc32f9a55d97263f fund_reward -
9248aee028fd54ae go_to_a_bin -
be3d7d57674f9ead increase_oracle_length -
505375d3420d2195 increase_position_length -
ffd2cc477389e171 increase_position_length2 -
235613b94ed44bd3 initialize_bin_array -
2f9de2b40cf02147 initialize_bin_array_bitmap_extension -
2e2729876fb7c840 initialize_customizable_permissionless_lb_pair -
f349817e3313f16b initialize_customizable_permissionless_lb_pair2 -
2d9aedd2dd0fa65c initialize_lb_pair -
493b2478ed536cc6 initialize_lb_pair2 -
6c66d555fb033515 initialize_permission_lb_pair -
dbc0ea47bebf6650 initialize_position -
8f13f291d50f6873 initialize_position2 -
fbbdbef475fe2394 initialize_position_by_operator -
2e527d92558de499 initialize_position_pda -
42bc47d3626d0eba initialize_preset_parameter -
5f87c0c4f281e644 initialize_reward -
fd4dcd5f1be059df initialize_token_badge -
6cb021ba92e501c5 place_limit_order OPEN_ORDER owner=6 order=4
5c04b0c177b95309 rebalance_liquidity -
0a333d2370691855 remove_all_liquidity REMOVE_FROM_POOL user=11 pool=1
5055d14818ceb16c remove_liquidity REMOVE_FROM_POOL user=11 pool=1
e6d7527ff165e392 remove_liquidity2 REMOVE_FROM_POOL user=9 pool=1
1a526698f04a691a remove_liquidity_by_range REMOVE_FROM_POOL user=11 pool=1
cc02c391359191cd remove_liquidity_by_range2 REMOVE_FROM_POOL user=9 pool=1
5bf90fa51a81fe7d set_activation_point -
43f8e7899a95d9ae set_pair_status -
4e3b98d346b72ed0 set_pair_status_permissionless -
543acb8ba351beba set_permissionless_operation_bits -
a53dc9f4829f1664 set_pre_activation_duration -
398b2f7bd850df0a set_pre_activation_swap_address -
f8c69e91e17587c8 swap SWAP user=10 pool=0
414b3f4ceb5b5b88 swap2 SWAP user=10 pool=0
fa49652126cf4bb8 swap_exact_out SWAP user=10 pool=0
2bd7f784893cf351 swap_exact_out2 SWAP user=10 pool=0
38ade6d0ade49ccd swap_with_price_impact SWAP user=10 pool=0
4a62c0d6b1334b33 swap_with_price_impact2 SWAP user=10 pool=0
4ba8dfa110c3032f update_base_fee_parameters -
5ca12ef6ffbd1616 update_dynamic_fee_parameters -
208eb89a6741b858 update_fees_and_reward2 -
9ae6fa0decd14bdf update_fees_and_rewards -
cab8678fb4bf74d9 update_position_operator -
8aaec4a9d5ebfe6b update_reward_duration -
d31c3020d7a02317 update_reward_funder -
94ce2ac3f7316708 withdraw_ineligible_reward -
9ec99ebd215da267 withdraw_protocol_fee -
d59bbb2238b65bf0 zap_protocol_fee -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/meteora-vault-decoder (2026-04-30)
  '24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi': `
407b7fe3c0eac614 add_strategy -
f6951552a04afef0 collect_dust -
f223c68952e1f2b6 deposit DEPOSIT user=5 vault=0
f65239e283defdf9 deposit_strategy DEPOSIT user=9 pool=7 vault=0
9152f19c1a9ae9d3 enable_vault -
afaf6d1f0d989bed initialize -
d0779091b23969fc initialize_strategy -
b9ee215b86d2611a remove_strategy -
8a68d0947e23c30e remove_strategy2 -
ee9965a9f3832401 set_operator -
b712469c946da122 withdraw WITHDRAW user=5 vault=0
50066f49aed34284 withdraw2 WITHDRAW user=5 vault=0
c98d922ead74c616 withdraw_directly_from_strategy WITHDRAW user=10 pool=2 vault=0
1f2da205c1d986bc withdraw_strategy WITHDRAW user=9 pool=7 vault=0
`,
  // https://github.com/pump-fun/pump-public-docs/blob/1b82215884/idl/pump_amm.json (2026-05-19)
  pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA: `
f228759149606968 admin_set_coin_creator -
d10b7357d5177ccc admin_update_token_incentives -
66063d1201daebea buy SWAP user=1 pool=0
c62e1552b4d9e870 buy_exact_quote_in SWAP user=1 pool=0
253a237ebe35e4c5 claim_cashback CLAIM user=0
1004471ccc01281b claim_token_incentives CLAIM user=0
f945a4da9667548a close_user_volume_accumulator -
a039592ab58b2b42 collect_coin_creator_fee CLAIM
c9cff3724b6f2fbd create_config -
e992d18ecf6840bc create_pool ADD_TO_POOL user=2 pool=0
f223c68952e1f2b6 deposit ADD_TO_POOL user=2 pool=0
b9adbb5ad80feee9 disable -
ea66c2cb96483ee5 extend_account -
5e06ca73ff60e8b7 init_user_volume_accumulator -
d0089f044aaf103a migrate_pool_coin_creator -
33e685a4017f83ad sell SWAP user=1 pool=0
d295802dbc3a4eaf set_coin_creator -
6faca2e87259d58e set_reserved_fee_recipients -
561fc057a3574fee sync_user_volume_accumulator -
7367e0ffbd5956c3 toggle_cashback_enabled -
01096fd0641fffa3 toggle_mayhem_mode -
8b348655e4e56cf1 transfer_creator_fees_to_pump -
01214eb921432c5c transfer_creator_fees_to_pump_v2 -
a1b028d53cb8b3e4 update_admin -
fbe0ab92a01a71e9 update_buyback_config -
68b867f258976b14 update_fee_config -
b712469c946da122 withdraw REMOVE_FROM_POOL user=2 pool=0
`,
  // https://github.com/pump-fun/pump-public-docs/blob/1b82215884/idl/pump_fees.json (2026-05-19)
  pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ: `
e115fb85a11ec7e2 claim_social_fee_pda -
114df0863abc3595 claim_social_fee_pda_v2 -
dc0abda7a9111945 crank_donation_fee_pda -
f48b10580eff7a1a create_donation_fee_pda -
c34e564c6f34fbd5 create_fee_sharing_config -
90e03bd34ef8cadc create_social_fee_pda -
44b3f45aad3811d9 extend_fee_config -
e7257e55cf5b3f34 get_fees -
fa81eca0e3246786 initialize_buyback -
3ea214857941911b initialize_fee_config -
23d78254e9387ca7 initialize_fee_program_global -
0a02b65f107f81ba reset_fee_sharing_config -
a9f511d15e5bf880 reset_fee_sharing_config_v2 -
12e99e27b9cf3a68 revoke_fee_sharing_authority -
85fa25156ea31a79 set_authority -
b9d39faed4315804 set_claim_rate_limit -
c2d9702372de33be set_disable_flags -
9336b89a88edb999 set_social_claim_authority -
8a21cc26cfa19fe2 sweep_buyback -
ca0a4bc8a422d260 transfer_fee_sharing_authority -
a1b028d53cb8b3e4 update_admin -
426271ca7925db6b update_buyback_authority -
ba5f87beffc789aa update_buyback_claim_rate_limit -
68b867f258976b14 update_fee_config -
bd0d8863bba4ed23 update_fee_shares -
6ffb31064e4e6a12 update_fee_shares_v2 -
6ba964b3869b92dd update_stable_fee_config -
e317960c4d565e04 upsert_fee_tiers -
b5a0a2fc4a4ce0dd upsert_stable_fee_tiers -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/orca-whirlpool-decoder (2026-04-30)
  whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc: `
2924d8f51b556743 close_bundled_position -
7b86510031446262 close_position -
01b6873b9b1963df close_position_with_token_extensions -
a498cf631eba13b6 collect_fees CLAIM user=1 pool=0
cf755fbfe5b4e20f collect_fees_v2 CLAIM user=1 pool=0
1643176296b246dc collect_protocol_fees -
6780de8672c816c8 collect_protocol_fees_v2 -
4605845756ebb122 collect_reward CLAIM user=1 pool=0
b16b25b4a01331d1 collect_reward_v2 CLAIM user=1 pool=0
a026d06f685b2c01 decrease_liquidity REMOVE_FROM_POOL user=2 pool=0
3a7fbc3e4f52c460 decrease_liquidity_v2 REMOVE_FROM_POOL user=4 pool=0
64196302d9ef7cad delete_position_bundle -
35924408127511b9 delete_token_badge -
2e9cf3760dcdfbb2 increase_liquidity ADD_TO_POOL user=2 pool=0
851d59df45eeb00a increase_liquidity_v2 ADD_TO_POOL user=4 pool=0
4d63d0c88d7b7530 initialize_adaptive_fee_tier -
d07f1501c2bec446 initialize_config -
370935097239d134 initialize_config_extension -
b74a9ca070022a1e initialize_fee_tier -
5fb40aac54aee828 initialize_pool -
cf2d57f21b3fcc43 initialize_pool_v2 -
8f5e604cac7c77c7 initialize_pool_with_adaptive_fee -
752df1951812c241 initialize_position_bundle -
5d7c10b3f98373f5 initialize_position_bundle_with_metadata -
5f87c0c4f281e644 initialize_reward -
5b014d32ebe58531 initialize_reward_v2 -
0bbcc1d68d5b95b8 initialize_tick_array -
fd4dcd5f1be059df initialize_token_badge -
e33e02fcf70aabb9 lock_position -
a9717eabd5acd431 open_bundled_position -
87802f4d0f98f031 open_position -
f21d86303a6e0e3c open_position_with_metadata -
d42f5f5c726683fa open_position_with_token_extensions -
a47bb48dc264a0af reset_position_range -
22965df48be1e943 set_collect_protocol_fees_authority -
2c5ef17418bc3c8f set_config_extension_authority -
e54254fba486b707 set_default_base_fee_rate -
76d7d69db6e5d0e4 set_default_fee_rate -
6bcdf9e297235600 set_default_protocol_fee_rate -
c1eae7938a39037a set_delegated_fee_authority -
1f013257ed656184 set_fee_authority -
35f38941088c9e06 set_fee_rate -
7979367283e6a268 set_fee_rate_by_delegated_fee_authority -
7d2b7feb951a6aec set_initialize_pool_authority -
84b94294535886c6 set_preset_adaptive_fee_constants -
5f0704329a4f9c83 set_protocol_fee_rate -
2227b7fc531c557f set_reward_authority -
f09ac9c6945d3819 set_reward_authority_by_super_authority -
0dc556a86db01bf4 set_reward_emissions -
cf05c8d17a3852b7 set_reward_emissions_super_authority -
72e44820c130a066 set_reward_emissions_v2 -
cfca0420cd4f0db2 set_token_badge_authority -
f8c69e91e17587c8 swap SWAP user=1 pool=2
2b04ed0b1ac91e62 swap_v2 SWAP user=3 pool=4
b379e52e438ac28a transfer_locked_position -
c360ed6c44a2dbe6 two_hop_swap SWAP user=1 pool=2
ba8fd11dfe02c275 two_hop_swap_v2 SWAP user=14 pool=0
9ae6fa0decd14bdf update_fees_and_rewards -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/pancake-swap-decoder (2026-04-30)
  HpNfyc2Saw7RKkQd8nEL4khUcuPhQ7WwY1B2qjx8jxFq: `
7b86510031446262 close_position -
a78a4e95dfc2067e collect_fund_fee -
8888fcddc2427e59 collect_protocol_fee -
12eda6c52210d590 collect_remaining_rewards CLAIM pool=2
8934edd4d7756c68 create_amm_config -
3f5794216d230868 create_operation_account -
58f2c646f106c4fb create_permissionless_farm_switch -
e992d18ecf6840bc create_pool -
11fb415c88f20ea9 create_support_mint_associated -
a026d06f685b2c01 decrease_liquidity REMOVE_FROM_POOL user=0 pool=3
3a7fbc3e4f52c460 decrease_liquidity_v2 REMOVE_FROM_POOL user=0 pool=3
2e9cf3760dcdfbb2 increase_liquidity ADD_TO_POOL user=0 pool=2
851d59df45eeb00a increase_liquidity_v2 ADD_TO_POOL user=0 pool=2
5f87c0c4f281e644 initialize_reward -
87802f4d0f98f031 open_position ADD_TO_POOL user=0 pool=5
4db84ad67056f1c7 open_position_v2 ADD_TO_POOL user=0 pool=5
4dffae527d1dc92e open_position_with_token22_nft ADD_TO_POOL user=0 pool=4
7034a74b20c9d389 set_reward_params -
f8c69e91e17587c8 swap SWAP user=0 pool=2
457d73daf5baf2c4 swap_router_base_in SWAP user=0 inputMint=2
2b04ed0b1ac91e62 swap_v2 SWAP user=0 pool=2
967036e9eea10756 toggle_permissionless_farm_switch -
07160c53f22b3079 transfer_reward_owner -
313cae889a1c74c8 update_amm_config -
7f467728bce33d07 update_operation_account -
82576c062ee0757b update_pool_status -
a3ace0340b9a6adf update_reward_infos -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/raydium-clmm-decoder (2026-04-30)
  CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK: `
7b86510031446262 close_position -
a78a4e95dfc2067e collect_fund_fee -
8888fcddc2427e59 collect_protocol_fee -
12eda6c52210d590 collect_remaining_rewards CLAIM pool=2
8934edd4d7756c68 create_amm_config -
3f5794216d230868 create_operation_account -
e992d18ecf6840bc create_pool -
a026d06f685b2c01 decrease_liquidity REMOVE_FROM_POOL user=0 pool=3
3a7fbc3e4f52c460 decrease_liquidity_v2 REMOVE_FROM_POOL user=0 pool=3
2e9cf3760dcdfbb2 increase_liquidity ADD_TO_POOL user=0 pool=2
851d59df45eeb00a increase_liquidity_v2 ADD_TO_POOL user=0 pool=2
5f87c0c4f281e644 initialize_reward -
87802f4d0f98f031 open_position ADD_TO_POOL user=0 pool=5
4db84ad67056f1c7 open_position_v2 ADD_TO_POOL user=0 pool=5
4dffae527d1dc92e open_position_with_token22_nft ADD_TO_POOL user=0 pool=4
7034a74b20c9d389 set_reward_params -
f8c69e91e17587c8 swap SWAP user=0 pool=2
457d73daf5baf2c4 swap_router_base_in SWAP user=0 inputMint=2
2b04ed0b1ac91e62 swap_v2 SWAP user=0 pool=2
07160c53f22b3079 transfer_reward_owner -
313cae889a1c74c8 update_amm_config -
7f467728bce33d07 update_operation_account -
82576c062ee0757b update_pool_status -
a3ace0340b9a6adf update_reward_infos -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/raydium-cpmm-decoder (2026-04-30)
  CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C: `
9c5420764587467b close_permission_pda -
1416567bc61cdb84 collect_creator_fee CLAIM user=0 pool=2
a78a4e95dfc2067e collect_fund_fee -
8888fcddc2427e59 collect_protocol_fee -
8934edd4d7756c68 create_amm_config -
878802d889a9b5ca create_permission_pda -
f223c68952e1f2b6 deposit ADD_TO_POOL user=0 pool=2
afaf6d1f0d989bed initialize ADD_TO_POOL user=0 pool=3
3f37fe4131b25979 initialize_with_permission ADD_TO_POOL user=0 pool=4
8fbe5adac41e33de swap_base_input SWAP user=0 pool=3 inputMint=10 outputMint=11
37d96256a34ab4ad swap_base_output SWAP user=0 pool=3 inputMint=10 outputMint=11
313cae889a1c74c8 update_amm_config -
82576c062ee0757b update_pool_status -
b712469c946da122 withdraw REMOVE_FROM_POOL user=0 pool=2
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/raydium-amm-v4-decoder (2026-04-30)
  '675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8': `
0d admin_cancel_orders -
0e create_config_account -
03 deposit ADD_TO_POOL user=12 pool=1
00 initialize -
01 initialize2 ADD_TO_POOL user=17 pool=4
05 migrate_to_open_book -
02 monitor_step -
0a pre_initialize -
06 set_params -
0c simulate_info -
09 swap_base_in SWAP user=17 pool=1
10 swap_base_in_v2 SWAP user=7 pool=1
0b swap_base_out SWAP user=17 pool=1
11 swap_base_out_v2 SWAP user=7 pool=1
0f update_config_account -
04 withdraw REMOVE_FROM_POOL user=18 pool=1
07 withdraw_pnl -
08 withdraw_srm -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/stabble-stable-swap-decoder (2026-04-30)
  swapNyd8XiQwJ6ianp9snpu4brUqFxadzvHebnAXjJZ: `
b017291c176f0804 accept_owner -
078da23c47731a92 approve_strategy -
38eebd23c89d2a42 change_amp_factor -
5db000cd453f5750 change_max_supply -
e70f843384a540aa change_swap_fee -
98a06b94f5be7fe0 create_strategy -
f223c68952e1f2b6 deposit ADD_TO_POOL user=0 pool=3
f92e37391f263d1b exec_strategy -
afaf6d1f0d989bed initialize -
d316ddfb4a79c12f pause -
eecec6d733b285e4 reject_owner -
92ccf1d55615fdd3 shutdown -
f8c69e91e17587c8 swap SWAP user=0 pool=6
2b04ed0b1ac91e62 swap_v2 SWAP user=0 pool=8
f519ddaf6ae5e12d transfer_owner -
a99004260a8dbcff unpause -
b712469c946da122 withdraw REMOVE_FROM_POOL user=0 pool=3
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/stabble-weighted-swap-decoder (2026-04-30)
  swapFpHZwjELNnjvThjajtiVmkz3yPQEHjLtka2fwHW: `
b017291c176f0804 accept_owner -
5db000cd453f5750 change_max_supply -
e70f843384a540aa change_swap_fee -
f223c68952e1f2b6 deposit ADD_TO_POOL user=0 pool=3
afaf6d1f0d989bed initialize -
d316ddfb4a79c12f pause -
eecec6d733b285e4 reject_owner -
92ccf1d55615fdd3 shutdown -
f8c69e91e17587c8 swap SWAP user=0 pool=6
2b04ed0b1ac91e62 swap_v2 SWAP user=0 pool=8
f519ddaf6ae5e12d transfer_owner -
a99004260a8dbcff unpause -
b712469c946da122 withdraw REMOVE_FROM_POOL user=0 pool=3
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/vertigo-decoder (2026-04-30)
  vrTGoBuy5rYSxAfV3jaRJWHH6nN9WK4NRExGxsk1bCJ: `
66063d1201daebea buy SWAP user=1 pool=0
3ec6d6c1d59f6cd2 claim CLAIM pool=0
181ec828051c0777 create -
5309e76e921f280c quote_buy -
05b231ce8ce78391 quote_sell -
33e685a4017f83ad sell SWAP user=1 pool=0
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/fluxbeam-decoder (2026-04-30)
  FLUXubRmkEi2q6K3Y9kBPg9248ggaZVsoSFhtJHSrm1X: `
02 deposit_all_token_types ADD_TO_POOL user=2
04 deposit_single_token_type_exact_amount_in ADD_TO_POOL user=2
00 initialize -
01 swap SWAP user=2 inputMint=9 outputMint=10
03 withdraw_all_token_types REMOVE_FROM_POOL user=2
05 withdraw_single_token_type_exact_amount_out REMOVE_FROM_POOL user=2
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/lifinity-amm-v2-decoder (2026-04-30)
  '2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c': `
205f453c4b4fcdee deposit_all_token_types ADD_TO_POOL user=1 pool=0
f8c69e91e17587c8 swap SWAP user=2 pool=1
bdfe9caed209a4d8 withdraw_all_token_types REMOVE_FROM_POOL user=1 pool=0
a2b04f56d0d968f6 update_config_spread_param QUOTE_UPDATE
`,
  // https://github.com/invariant-labs/protocol/blob/cca6c3f531/sdk/src/idl/invariant.ts (2025-01-22)
  HyaB3W9q6XdA5xwpU4XnSZV94htfmbmqJXZcEbRaJutt: `
d6d3d14f6b69f7de create_state -
969e5572db4bd45b create_fee_tier -
e992d18ecf6840bc create_pool -
f8c69e91e17587c8 swap SWAP user=7 pool=1
90df8378c4fdb563 initialize_oracle -
e39ec8a87a688551 create_tick -
87a5535eaf189504 create_position_list -
30d7c59960cbb485 create_position ADD_TO_POOL user=5 pool=2
db18ec6e8a508106 remove_position REMOVE_FROM_POOL user=8 pool=4
63c2a6a2acb62de4 transfer_position_ownership -
a9204f8988e84689 claim_fee CLAIM user=5 pool=1
bd8d23815639cddb update_seconds_per_liquidity -
9ec99ebd215da267 withdraw_protocol_fee -
10fcfd9f30f22054 change_protocol_fee -
5c0ef1983a5cbc39 change_fee_receiver -
`,
  // https://github.com/stabbleorg/amm-sdk/blob/b3ce8a43aa/packages/sdk/src/generated/idl/vault.json (2025-12-04)
  vo1tWgqZMjG61Z2T9qUaMYKqZ75CYzMuaZ2LZP1n7HV: `
702a2d5a74b50daa accept_admin -
6e4f4d0a1eb51201 change_beneficiary -
2fa41c5b482ac715 change_beneficiary_fee -
afaf6d1f0d989bed initialize -
d316ddfb4a79c12f pause -
fd0ca9735875b1fc reject_admin -
2af2426ae40a6f9c transfer_admin -
a99004260a8dbcff unpause -
b712469c946da122 withdraw -
f250a300c4ddc2c2 withdraw_v2 -
`,
  // https://github.com/solana-labs/solana-program-library/blob/264ca72de0/token-swap/program/src/instruction.rs (2025-03-10)
  'SwaPpA9LAaLfeLi3a68M4DjnLqgtticKg6CnyNwgAC8 9W959DqEETiGZocYWCQPaJ6sBmUzgfxXfqGeTEdp3aQP DjVE6JNiYqPL2QXyCUUh8rNjHrbz9hXHNYt99MQ59qw1': `
00 initialize ADD_TO_POOL pool=0
01 swap SWAP user=2 pool=0
02 deposit_all_token_types ADD_TO_POOL user=2 pool=0
03 withdraw_all_token_types REMOVE_FROM_POOL user=2 pool=0
04 deposit_single_token_type_exact_amount_in ADD_TO_POOL user=2 pool=0
05 withdraw_single_token_type_exact_amount_out REMOVE_FROM_POOL user=2 pool=0
`,
  // https://github.com/saber-hq/stable-swap/blob/39d5d4e0e8/stable-swap-client/src/instruction.rs (2023-12-01)
  SSwpkEEcbUqx4vtoEByFjSkhKdCT862DNVb52nZg1UZ: `
00 initialize ADD_TO_POOL pool=0
01 swap SWAP user=2 pool=0
02 deposit ADD_TO_POOL user=2 pool=0
03 withdraw REMOVE_FROM_POOL user=2 pool=0
04 withdraw_one REMOVE_FROM_POOL user=2 pool=0
`,
  // https://github.com/Squads-Protocol/v4/blob/c14a6d607a/sdk/multisig/idl/squads_multisig_program.json (2026-07-08)
  SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf: `
b8bcc6c3cd7c75d8 program_config_init -
eef224b5208fd84b program_config_set_authority -
65a0f93f9ad7990d program_config_set_multisig_creation_fee -
6f2ef37590bca26b program_config_set_treasury -
7a4d509f54585ac5 multisig_create -
32ddc75d28f58be9 multisig_create_v2 -
01dbd76cb8e5d608 multisig_add_member -
d975b1d2b691da48 multisig_remove_member -
949a794dd4fe9b48 multisig_set_time_lock -
8d2a0f7ea95c3eb5 multisig_change_threshold -
8f5dc78f5ca9c1e8 multisig_set_config_authority -
30cc4139d2469c4a multisig_set_rent_collector -
0bf29f2a56c55973 multisig_add_spending_limit -
e4c6886f7b04b271 multisig_remove_spending_limit -
9bec57e4894b5127 config_transaction_create -
7292f4bdfc8c2428 config_transaction_execute -
30fa4ea8d0e2dad3 vault_transaction_create -
f5c9716c253f1d59 transaction_buffer_create -
11b6d0e48818b266 transaction_buffer_close -
e69d433805eef592 transaction_buffer_extend -
de36954457f630e7 vault_transaction_create_from_buffer -
c208a15799a419ab vault_transaction_execute -
c28e8d1137b914f8 batch_create -
5964e0124546364c batch_add_transaction -
ac2cb398157feab4 batch_execute_transaction -
dc3c49e01e6c4f9f proposal_create -
0b225cf89a1b336a proposal_activate -
9025a488bcd82af8 proposal_approve -
f33e869ce66af687 proposal_reject -
1b2a7fed26a354cb proposal_cancel -
cd29c23ddc8b10f7 proposal_cancel_v2 -
1039827fc1149b86 spending_limit_use -
50cb54359770bbba config_transaction_accounts_close -
c447bbb00223aaa5 vault_transaction_accounts_close -
8612136a814461f7 vault_batch_transaction_account_close -
dac407af82660bff batch_accounts_close -
`,
  // https://github.com/staratlasmeta/star-atlas-decoders/blob/3c9f493eb3/idl/SAGE2HAwep459SNq61LHvjxPk4pLPEJLoMETef7f7EE-idl.json (2026-01-21)
  SAGE2HAwep459SNq61LHvjxPk4pLPEJLoMETef7f7EE: `
86e32e1555787183 activate_game_state GAME user=0
28064500e696d729 add_connection GAME user=3
27b372c92d34528e add_crew_to_game GAME user=4
d571aa7bbb5a1c73 add_rental GAME
ba13da96a7b5d459 add_ship_escrow GAME user=0
eda699487ab3dc4e add_ship_to_fleet GAME user=6
0de1cb5b36e87eaa burn_crafting_consumables GAME
d71e81805be7f94e cancel_crafting_process GAME user=6
6b7add180cf946c1 change_rental GAME
1291aa803bf15388 claim_crafting_non_consumables GAME
d7473b1c9c5dbcff claim_crafting_outputs GAME
ca15e19c0f046a5d close_crafting_process GAME user=7
d696959cf57b25a5 close_disbanded_fleet GAME user=0
4e7cf7a394fd8e44 close_fleet_cargo_pod_token_account GAME user=0
42e8136cb4c012e9 close_player_crew_record GAME user=4
61a4629eb4c3fb50 close_starbase_cargo_token_account GAME user=3
d6848a7b88115952 close_upgrade_process GAME user=7
8f5cc0f9156cad51 complete_starbase_upgrade GAME user=0
5f4dfea2f8a81110 copy_game_state GAME user=3
8f3e85508553a711 create_cargo_pod GAME user=0
adbe2d74226d2259 create_certificate_mint GAME user=0
361903475ad7636c create_crafting_process GAME user=0
4c7b5152ebe49ccb create_fleet GAME user=5
1d05cafdb707042c create_starbase_upgrade_resource_process GAME user=0
37eb697b00fd40ed deposit_cargo_to_fleet GAME user=0
57317594f1f7b012 deposit_cargo_to_game GAME user=5
202391d538ffd19c deposit_crafting_ingredient GAME user=9
b0a00bfa22425e0c deposit_starbase_upkeep_resource GAME user=8
15baa8c854c32949 deregister_mine_item GAME user=0
f9aef2bb8bdb2f76 deregister_progression_config GAME user=2
398c94f608591722 deregister_resource GAME user=0
6442d2bb6ec7d36b deregister_starbase GAME user=0
ff213d788877b8eb deregister_survey_data_unit_tracker GAME user=0
50f4294448a91acf dev_add_crew_to_game GAME user=0
17f657d09557325c dev_deposit_cargo_to_game GAME user=5
278b0e552d10d798 disband_fleet GAME user=5
a55a47de9b070e79 disbanded_fleet_to_escrow GAME user=5
6de7e779cb2c1628 discover_sector GAME user=6
dd4c5c7fe6232943 drain_mine_item_bank GAME user=0
e3635637dac960d0 drain_survey_data_units_bank GAME user=0
724dfc1b34a1029c fleet_state_handler GAME
12f535779b39014e force_disband_fleet GAME user=0
aa78bf2effc350dd force_drop_fleet_cargo GAME
e32e044a97f82983 idle_to_loading_bay GAME user=0
ebcfc8aea1745ba8 idle_to_respawn GAME user=0
fb2e0cd0b8949d49 init_game GAME user=0
ecc72c560c862478 init_game_state GAME user=3
b4b76a99ff08e8b2 invalidate_rental GAME
08077356f6435794 invalidate_ship GAME user=0
2709d4daa76b89d0 load_fleet_crew GAME user=0
0d50e23f18acbe57 loading_bay_to_idle GAME user=0
bf7c5dbc10fb0f7a loading_bay_to_respawn GAME user=0
d03f876cdafc2400 mine_asteroid_to_respawn GAME user=0
3502685433c5b30a mint_certificate GAME user=2
40de5ef395413684 mint_crew_to_game GAME
d4f185ac895331b1 redeem_certificate GAME user=2
36ad3a4a80746d14 register_mine_item GAME user=3
d55b4e76cf8562ee register_planet GAME user=3
154100f04c8755db register_progression_config GAME user=0
57d1a41c0652e8d6 register_resource GAME user=3
dd907d9e1c19bad1 register_sage_crew_config GAME user=0
588eda954b4de49c register_sage_player_profile GAME user=1
d4fba4b49e13ad16 register_sage_point_modifier GAME user=3
37393ac024eb246d register_sector GAME user=3
06337f5c394cb0a5 register_ship GAME user=3
0f1969eab1d793bf register_star GAME user=3
6921248aa5b53339 register_starbase GAME user=0
3c129e13d09353e2 register_starbase_player GAME user=0
d048633f00d6289b register_survey_data_unit_tracker GAME user=3
d8174e68ef2b0803 remove_cargo_pod GAME user=4
c891776755be788a remove_connection GAME user=0
f28b4c0f17b66475 remove_crew_from_game GAME user=4
f80f10c50df82700 remove_invalid_ship_escrow GAME user=0
43046ca1ba6a7d34 remove_ship_escrow GAME user=0
69c48bee0d467de2 respawn_to_loading_bay GAME user=0
5466ea017e88ba93 scan_for_survey_data_units GAME user=0
b8ef76ed5ca9b1ae set_next_ship GAME user=0
406c6d3e09808af6 start_crafting_process GAME user=6
bad7501eaee2d321 start_mining_asteroid GAME user=0
a5e153a79ed38fcd start_starbase_upgrade GAME user=0
c068c5281e279b30 start_subwarp GAME user=0
31c0acf44f2caab2 stop_crafting_process GAME user=6
b54d2da3671bd351 stop_mining_asteroid GAME user=0
963a030006cf772e stop_subwarp GAME user=0
35b6e6e839c9a778 submit_starbase_upgrade_resource GAME user=15
785ea4d8a73b03cc sync_starbase_player GAME
a9fd02132e4912dc sync_starbase_upgrade_ingredients GAME user=0
0cbea6be7b77d650 transfer_cargo_at_starbase GAME user=7
c96d29db3934b417 transfer_cargo_within_fleet GAME user=0
675f2a554f904720 unload_fleet_crew GAME user=0
9f3d848303ead1dc update_game GAME user=0
60cb819e4a16e5f8 update_game_state GAME user=0
e619897592567930 update_mine_item GAME user=0
182c47861f20c9b2 update_planet GAME user=0
27d99652edd664b8 update_progression_config GAME user=1
f0d09c56e6d80164 update_resource GAME user=0
67e724d5bb482afc update_ship GAME user=0
adcf65f7ace42769 update_ship_escrow GAME
d553bae5b31facfd update_ship_in_fleet GAME
91920c560c3027a9 update_star GAME user=0
4e9268a66f925f1c update_starbase GAME user=3
ce1bf719ddcfdb23 update_survey_data_unit_tracker GAME user=0
e8bcc3316448e7f3 warp_lane GAME user=0
573c329af16a4d17 warp_to_coordinate GAME user=0
05a380e96c511f38 withdraw_cargo_from_fleet GAME user=0
66da5835ffc2183e withdraw_cargo_from_game GAME user=3
da00cf4dfd74f8fa withdraw_crafting_ingredient GAME user=9
`,
  // https://solscan.io/tx/3Nr3t7dzybNquFpWgweWGckNA7zopUxAkhcspogaWjvCus2AmaCa8rVnQv7taueT5bbZMQCYYietv8fw6wz7REZw (2025-08-22)
  GDDMwNyyx8uB6zrqwBFHjLLG3TBYk2F8Az4yrQC5RzMp: `
58f5e88e6dfaf5ff check_and_set_sequence_number -
`,
  // https://solscan.io/tx/5pRdV6zz16Z1RVkjQnq9hiB1W85Wdz3Dd12ZjidwpnUTWxUhP9atLHmB99ae4SkB7Ev1Nn2UuHc1MfMohC981XjX (2025-08-22)
  VFeesufQJnGunv2kBXDYnThT1CoAYB45U31qGDe5QjU: `
8fcbd846265e0b40 record_sol_balance -
bc887ddfe66cf7b9 send_fees_sol_recorded -
`,
  // https://github.com/helium/helium-program-library/blob/145947eedf/packages/spl-utils/src/idl/helium_entity_manager.json (2026-08-14)
  hemjuPXBpNvggtaUnN1MwT3wrdhttKEfosTcc2P9Pg8: `
0ce6855c96e58d8e approve_maker_v0 INFRA user=5
05ee98b948780391 approve_program_v0 INFRA user=2
1351db1e0a220c50 initialize_data_only_v0 INFRA user=0
cc1a3e8670c9a2a0 initialize_maker_v0 INFRA user=0
ae32200f8f070b98 initialize_rewardable_entity_config_v0 INFRA user=2
bf60f52e3f49cf11 issue_data_only_entity_v0 COMPRESSED_NFT_MINT
e8c27a44a7f677c5 issue_entity_v0 COMPRESSED_NFT_MINT owner=6
de8378a3e6bb5bd1 issue_iot_operations_fund_v0 COMPRESSED_NFT_MINT owner=1
3c70f0ce50655ed2 issue_not_emitted_entity_v0 COMPRESSED_NFT_MINT owner=1
466172e2219650d9 issue_program_entity_v0 COMPRESSED_NFT_MINT
62b37f333abfaebc onboard_data_only_iot_hotspot_v0 INFRA user=0
1ebde5db7b773e98 onboard_data_only_mobile_hotspot_v0 INFRA user=0
2d1881260e41070f onboard_iot_hotspot_v0 INFRA user=0
1790d29b08cb5acf onboard_mobile_hotspot_v0 INFRA user=0
7917126e2b6f20fe revoke_maker_v0 INFRA user=2
a6782c8f053f79d2 revoke_program_v0 INFRA user=2
eabacc1c5b58f6f4 set_entity_active_v0 INFRA
e20adef366cd0ddd set_maker_tree_v0 INFRA user=0
a27c4ca8bfb13ecb swap_maker_stake INFRA user=0
d002f97c91e7120d temp_backfill_mobile_info INFRA user=0
7554404c891fbc1c temp_pay_mobile_onboarding_fee_v0 INFRA
d7e4964246392b2d temp_standardize_entity INFRA user=5
d6341e41d7267a66 update_data_only_tree_v0 INFRA user=0
d3ebcd1d6d569927 update_iot_info_v0 INFRA user=0
959e62ba40d33411 update_maker_tree_v0 INFRA user=0
5ee3f08543e0196d update_maker_v0 INFRA
cf68529dc1e54999 update_mobile_info_v0 INFRA user=0
3455a9868a744e12 update_rewardable_entity_config_v0 INFRA user=1
`,
  // https://github.com/helium/helium-program-library/blob/145947eedf/packages/spl-utils/src/idl/lazy_transactions.json (2026-08-14)
  '1atrmQs3eq1N2FEYWu6tyTXbCjP4uQwExpjtnhXtS8h': `
5cbdb0f581ada6a9 close_canopy_v0 INFRA user=1
ca58959051d701af close_marker_v0 INFRA user=2
d95dae6182b77e2c execute_transaction_v0 INFRA user=0
20e3cf7f70321f9d initialize_lazy_transactions_v0 INFRA user=0
1956817cb8c38659 set_canopy_v0 INFRA user=0
38dfa5f596ecad25 update_lazy_transactions_v0 INFRA user=0
`,
  // https://github.com/helium/helium-program-library/blob/145947eedf/packages/spl-utils/src/idl/lazy_distributor.json (2026-08-14)
  '1azyuavdMyvsivtNxPoz6SucD18eDHeXzFCUPq5XU7w': `
a030b8390569e947 distribute_compression_rewards_v0 CLAIM user=6
52268acb365ff0b6 distribute_custom_destination_v0 CLAIM user=6
eb132a0c7162d675 distribute_rewards_v0 CLAIM user=6
ea5fb0b9072a239f dummy_ix INFRA
509097151a90daae initialize_compression_recipient_v0 INFRA user=4
5237cacb9ec6f067 initialize_lazy_distributor_v0 INFRA user=0
d82333ab98293e6a initialize_recipient_v0 INFRA user=0
fbedbe80e4c35def set_current_rewards_v0 INFRA user=0
3e325d2999ca0dd1 set_current_rewards_v1 INFRA user=0
bef5f21fdf12e5df temp_update_matching_destination INFRA user=0
75c8372c3ec3c951 update_compression_destination_v0 INFRA user=1
c4edd0b26807240e update_destination_v0 INFRA user=1
4976a7ecd3d59ed6 update_lazy_distributor_v0 INFRA user=2
`,
  // https://github.com/Lightprotocol/light-protocol/blob/8ddf06ba31/programs/account-compression/src/lib.rs (2026-03-28)
  'compr6CUsB5m2jS4Y3831ztGSTnDpnKJTKS95d64XVq CbjvJc1SNx1aav8tU49dJGHu8EUdzQJSMtkjDmV8miqK': `
130e66b7d623d30d initialize_address_merkle_tree_and_queue INFRA
4bd03f38cf4a7c12 update_address_merkle_tree INFRA
18541b0c86a617c0 rollover_address_merkle_tree_and_queue INFRA
7beda150ead743b7 initialize_group_authority INFRA
71c1b51cd69db283 update_group_authority INFRA
e156cfd315012e19 register_program_to_group INFRA
84476ece8d39b6a2 deregister_program INFRA
2dbfebe73fd18e94 initialize_state_merkle_tree_and_nullifier_queue INFRA
b48f9f99232ef8a3 insert_into_queues INFRA
9e5b15e09f41b143 nullify_leaves INFRA
27a167ac66c67855 rollover_state_merkle_tree_and_nullifier_queue INFRA
0f31b6cb58d44b82 initialize_batched_state_merkle_tree INFRA
a79de2ca490186d0 initialize_batched_address_merkle_tree INFRA
869ed2f0fc23fdf7 batch_nullify INFRA
ddc203d8253edc93 batch_append INFRA
ab7ff2417dbd7975 batch_update_address_tree INFRA
51777504c2247fd0 rollover_batched_address_merkle_tree INFRA
f030dbb4cefd508c rollover_batched_state_merkle_tree INFRA
22bde2deda9c13d5 migrate_state INFRA
`,
  // https://github.com/Lightprotocol/light-protocol/blob/8ddf06ba31/programs/compressed-token/anchor/src/lib.rs (2026-03-28)
  'cTokenmWW8bLPjZEBAUgYy3zKxQZW6VKi7bqNFEVv3m HXVfQ44ATEi9WBKLSCCwM54KokdkzqXci9xCQ7ST9SYN': `
17a91b7a93a9d198 create_token_pool -
728fd249607301e4 add_token_pool -
f12230ba25b37bc0 mint_to -
41ce6525932add90 batch_compress -
70e6696591ca9d61 compress_spl_token_account -
a334c8e78c0345ba transfer -
454ad9247375614c approve -
aa171f2285ad5df2 revoke -
ff5bcf54fbc2fe3f freeze -
e2f92239bd15b165 thaw -
746e1d386bdb2a5d burn -
`,
  // https://github.com/Lightprotocol/light-protocol/blob/8ddf06ba31/programs/registry/src/lib.rs (2026-03-28)
  'Lighton6oQpVkeewmo2mcPTQQp7kYHr4fWpAgJyEmDX 7Z9Yuy3HkBCc2Wf3xzMGnz6qpV4n7ciwcoEMGKqhAnj1': `
3e2ff06754c8e249 register_forester INFRA
2b78fdc26dc065bc register_forester_epoch INFRA
e6bcac60ccf762e3 finalize_registration INFRA
aa6ee82f91d58aa2 report_work INFRA
03a3f81931c773e8 initialize_address_merkle_tree INFRA
311035d0585ac438 initialize_state_merkle_tree INFRA
cfa0c64be3928001 nullify INFRA
4bd03f38cf4a7c12 update_address_merkle_tree INFRA
18541b0c86a617c0 rollover_address_merkle_tree_and_queue INFRA
6e1c160f305a7fd2 rollover_state_merkle_tree_and_queue INFRA
869ed2f0fc23fdf7 batch_nullify INFRA
ddc203d8253edc93 batch_append INFRA
ab7ff2417dbd7975 batch_update_address_tree INFRA
22bde2deda9c13d5 migrate_state INFRA
3ec6d6c1d59f6cd2 claim INFRA
605e8712792ad575 compress_and_close INFRA
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/jupiter-swap-decoder (2026-04-30)
  JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4: `
3ec6d6c1d59f6cd2 claim -
74ce1bbfa6130049 claim_token -
1a4aec976840b7f9 close_token -
93f17b64f484ae76 create_token_account -
e8f2c5fdf08f8134 create_token_ledger -
d033ef977b2bed5c exact_out_route SWAP user=1 inputMint=5 outputMint=6
9d8ab85215f4f324 exact_out_route_v2 SWAP user=0 inputMint=3 outputMint=4
e517cb977ae3ad2a route SWAP user=1 outputMint=5
bb64facc31c4af14 route_v2 SWAP user=0 inputMint=3 outputMint=4
96564774a75d0e68 route_with_token_ledger SWAP user=1 outputMint=5
e455b9704e4f4d02 set_token_ledger -
b0d169a89a7d453e shared_accounts_exact_out_route SWAP user=2 inputMint=7 outputMint=8
3560e5cad8bbfa18 shared_accounts_exact_out_route_v2 SWAP user=1 inputMint=6 outputMint=7
c1209b3341d69c81 shared_accounts_route SWAP user=2 inputMint=7 outputMint=8
d19853937cfed8e9 shared_accounts_route_v2 SWAP user=1 inputMint=6 outputMint=7
e6798f50779f6aaa shared_accounts_route_with_token_ledger SWAP user=2 inputMint=7 outputMint=8
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/jupiter-dca-decoder (2026-04-30)
  DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M: `
16072162a8b722f3 close_dca CANCEL_ORDER owner=0 order=1 inputMint=2 outputMint=3
f223c68952e1f2b6 deposit DEPOSIT user=0
537da645f7fc6785 end_and_close - owner=6 keeper=0 order=1 inputMint=2 outputMint=3
01e676fb2db165bb fulfill_dlmm_fill FILL_ORDER keeper=0 order=1 inputMint=2 outputMint=3
7340e24e21d369a2 fulfill_flash_fill FILL_ORDER keeper=0 order=1 inputMint=2 outputMint=3
9bc150795b93febb initiate_dlmm_fill -
8fcd03bfa2d7f531 initiate_flash_fill -
2441b93601d264a3 open_dca OPEN_ORDER owner=1 order=0 inputMint=2 outputMint=3
8e772b6da2340bb1 open_dca_v2 OPEN_ORDER owner=1 order=0 inputMint=3 outputMint=4
a334c8e78c0345ba transfer FILL_ORDER owner=2 keeper=0 order=1 outputMint=3
b712469c946da122 withdraw WITHDRAW user=0
c6d4ab6d90d7ae59 withdraw_fees -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/jupiter-limit-order-decoder (2026-04-30)
  jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu: `
d87840eb9b13e563 cancel_expired_order CANCEL_ORDER owner=2 order=0 inputMint=6
5f81edf00831df84 cancel_order CANCEL_ORDER owner=2 order=0 inputMint=6
e87a7319c78f88a2 fill_order FILL_ORDER owner=2 keeper=3 order=0
fc681286a44e128c flash_fill_order FILL_ORDER owner=2 keeper=3 order=0 inputMint=9 outputMint=11
0d09d36b3eace043 init_fee -
856e4aaf709ff59f initialize_order OPEN_ORDER owner=1 order=2 inputMint=5 outputMint=8
f02f99440dbee12a pre_flash_fill_order -
e8fdc3f794d449de update_fee -
0e7ae7da1feedf96 withdraw_fee -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/jupiter-limit-order-2-decoder (2026-04-30)
  j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X: `
5f81edf00831df84 cancel_order CANCEL_ORDER owner=1 order=2 inputMint=5
fc681286a44e128c flash_fill_order FILL_ORDER owner=1 keeper=0 order=2 outputMint=8
856e4aaf709ff59f initialize_order OPEN_ORDER owner=1 order=2 inputMint=7 outputMint=8
f02f99440dbee12a pre_flash_fill_order -
e8fdc3f794d449de update_fee -
0e7ae7da1feedf96 withdraw_fee -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/jupiter-perpetuals-decoder (2026-04-30)
  PERPHjGBqRHArX4DySjwM6UJHiR3sWAatqfdBS2qQJu: `
f7fe7e111a06d775 add_custody PERPS user=1
e4a24e1c46db7473 add_liquidity2 ADD_TO_POOL user=0 pool=5
73e6d4d3af3127a9 add_pool PERPS user=1
2869d9bcdc2d6d6e close_position_request PERPS user=1
4ac6c356c163014f create_decrease_position_market_request PERPS user=0
6940c952fa0e6d4d create_decrease_position_request2 PERPS user=0
b855c71869ab9c38 create_increase_position_market_request PERPS user=0
e8f2c5fdf08f8134 create_token_ledger PERPS user=1
dd50b02599bca044 create_token_metadata PERPS user=3
b9a172af609403aa decrease_position4 PERPS user=1
8311996e77646126 decrease_position_with_internal_swap PERPS user=1
6d9d37a908510476 get_add_liquidity_amount_and_fee2 PERPS
c1d20df971951d54 get_assets_under_management2 PERPS
b73b486edff3968e get_remove_liquidity_amount_and_fee2 PERPS
439335172b391043 increase_position4 PERPS
1a88e1d916155314 increase_position_pre_swap PERPS
72376a8cc7dd2070 increase_position_with_internal_swap PERPS
dc3bcfec6cfa2f64 init PERPS user=2
c225c37b287f7e9c instant_create_limit_order PERPS user=2
7562427f1e3249b9 instant_create_tpsl PERPS user=2
2e17f02c1e8a5e8c instant_decrease_position PERPS user=2
a47e44b6dfa640b7 instant_increase_position PERPS user=2
88f5e53a798d0ccf instant_update_limit_order PERPS user=2
90e47225a5f26f65 instant_update_tpsl PERPS user=2
40b05833a8bc9caf liquidate_full_position4 LIQUIDATE user=0 pool=2
a6895ccc91e018da operator_set_custody_config PERPS user=0
4cc95012c75cf669 operator_set_pool_config PERPS user=0
a200d737e10fb900 refresh_assets_under_management PERPS
e6d7527ff165e392 remove_liquidity2 REMOVE_FROM_POOL user=0 pool=5
8561828fd7e524b0 set_custody_config PERPS
504815bf1d792d6f set_perpetuals_config PERPS
d857417d716eb978 set_pool_config PERPS
f2e7b1fb7e919f68 set_test_time PERPS
e455b9704e4f4d02 set_token_ledger PERPS
414b3f4ceb5b5b88 swap2 SWAP user=0 pool=5
30335c7a51137029 test_init PERPS user=2
2af2426ae40a6f9c transfer_admin PERPS
90c8f9ff6cd9f974 update_decrease_position_request2 PERPS user=0
fc808f91e1dd9fcf withdraw_fees2 PERPS user=1
`,
  // https://github.com/jup-ag/jupiter-lend/blob/33a22cf7a5/target/idl/lending.json (2026-08-10)
  jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9: `
f223c68952e1f2b6 deposit DEPOSIT user=0 pool=5 vault=10 mint=3
74901061766d2877 deposit_with_min_amount_out DEPOSIT user=0 pool=5 vault=10 mint=3
9ce0432e59bd9dd1 init_lending LEND user=0
cbb9f1a538fe2109 init_lending_admin LEND user=0
3339e12fb69289a6 mint DEPOSIT user=0 pool=5 vault=10 mint=3
065e457a1eb392ab mint_with_max_assets DEPOSIT user=0 pool=5 vault=10 mint=3
6c9e4d09d234583e rebalance LEND user=0
be2190b656048d49 rebalance_with_amounts LEND user=0
b80c569546c461e1 redeem WITHDRAW user=0 pool=4 vault=10 mint=5
ebbded38a6b4b895 redeem_with_min_amount_out WITHDRAW user=0 pool=4 vault=10 mint=5
aee774cb083a8fcb set_rewards_rate_model LEND user=0
202e401c954bf358 update_authority LEND user=0
5d60b29c3975fdd1 update_auths LEND user=0
18e135bd48d4e1b2 update_rate LEND
cebb36e49108cb6f update_rebalancer LEND user=0
b712469c946da122 withdraw WITHDRAW user=0 pool=4 vault=10 mint=5
2fc5b7abef12f5ab withdraw_with_max_shares_burn WITHDRAW user=0 pool=4 vault=10 mint=5
`,
  // https://github.com/jup-ag/jupiter-lend/blob/33a22cf7a5/target/idl/vaults.json (2026-08-10)
  jupr81YtYssSyPt8jbnGuiWon5f6x9TcDEFxYe3Bdzi: `
ed8053983415e756 get_exchange_prices LEND
a25b3917e45d6f15 init_branch LEND user=0
c5140a0161a0b15b init_position LEND user=0
160d3e8d4959b21d init_tick LEND user=0
ce6c92f514008dd0 init_tick_has_debt_array LEND user=0
386e79a998f156b7 init_tick_id_liquidation LEND user=0
168502f47b64f9e6 init_vault_admin LEND user=0
29c245fec4f6e2c3 init_vault_config LEND user=0
60781764990b0da5 init_vault_state LEND user=0
dfb3e27d302e274a liquidate LIQUIDATE user=0
1c81fd7df3340ba2 liquidate_dex LIQUIDATE user=0
1a717432f783d005 liquidate_perfect_dex LIQUIDATE user=0
d96ad06374972a87 operate LEND user=0
df7adfb585847421 operate_dex LEND user=0
5822b44d98baa6a2 operate_perfect_dex LEND user=0
6c9e4d09d234583e rebalance LEND
47b21392fe2f6d7e rebalance_dex LEND
f07f26a6637d337c rebalance_dex_with_amounts LEND
be2190b656048d49 rebalance_with_amounts LEND
202e401c954bf358 update_authority LEND user=0
5d60b29c3975fdd1 update_auths LEND user=0
fb7c2394caa79d41 update_borrow_fee LEND user=0
4bfa1bb09c351a70 update_borrow_rate_magnifier LEND user=0
f453e3d7dc52c9dd update_collateral_factor LEND user=0
6554090b3c6895ea update_core_settings LEND user=0
d10ebc5ff21477c4 update_exchange_prices LEND
b7f29896b02841a1 update_liquidation_max_limit LEND user=0
15a8a7ce62ce4520 update_liquidation_penalty LEND user=0
35b957f38a0b4f1c update_liquidation_threshold LEND user=0
dd3b1ef66adf8937 update_lookup_table LEND user=0
7029d112f8e2fcbc update_oracle LEND user=0
cebb36e49108cb6f update_rebalancer LEND user=0
af3b75c4d3aa160c update_supply_rate_magnifier LEND user=0
e5a34c1552d719e9 update_withdraw_gap LEND user=0
`,
  // https://github.com/jup-ag/jupiter-lend/blob/33a22cf7a5/target/idl/liquidity.json (2026-08-10)
  jupeiUmn818Jg1ekPURTpr4mFo29p46vygyykFJ3wZC: `
ec9183e4e311c0ff change_status LEND user=0
3ec6d6c1d59f6cd2 claim LEND user=0
f192cbd83ade5b76 close_claim_account LEND user=0
5760d324f02bf657 collect_revenue LEND user=0
708d2faa2a639091 init_claim_account LEND user=0
5fbdd8b7bc3ef46c init_liquidity LEND user=0
c19305208a87d59e init_new_protocol LEND user=0
e4eb41819f0f0654 init_token_reserve LEND user=0
d96ad06374972a87 operate LEND
e29648d39f33e227 pause_token LEND user=0
123f2b5eef35650e pause_user LEND user=0
81cd9e9bc69b4885 pre_operate LEND
6c753e1ec85cffca unpause_token LEND user=0
477380fcb67eea3e unpause_user LEND user=0
202e401c954bf358 update_authority LEND user=0
5d60b29c3975fdd1 update_auths LEND user=0
eff40af874193596 update_exchange_price LEND
2b3efa8a8d758461 update_guardians LEND user=0
0614227a1696b416 update_rate_data_v1 LEND user=0
74493592d82de47c update_rate_data_v2 LEND user=0
a78e7cf0dc718d3b update_revenue_collector LEND user=0
e77ab54fff4f90a7 update_token_config LEND user=0
64b0c9aef70236a8 update_user_borrow_config LEND user=0
0cce44873fd43077 update_user_class LEND user=0
d9efe1da2131eab7 update_user_supply_config LEND user=0
a209ba09d51ead4e update_user_withdrawal_limit LEND user=0
`,
  // https://github.com/jup-ag/rfq-webhook-toolkit/blob/331d404802/idls/order_engine.json (2026-05-04)
  '61DFfeTKM7trxYcPQCM78bJ794ddZprZpAwAnLiwTpYH': `
a860b7a35c0a28a0 fill SWAP user=0 inputMint=6 outputMint=8
`,
  // https://github.com/Kamino-Finance/klend-sdk/blob/cf46535690/src/idl/klend.json (2026-03-13)
  KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD: `
22a2740e65895eef init_lending_market LEND
d19d35d261b41f2d update_lending_market LEND
76e00a3ec4e6b859 update_lending_market_owner LEND
8af547e19904032b init_reserve LEND user=0
da063ee90121e852 init_farms_for_reserve LEND
3d9464468f6b110d update_reserve_config LEND user=0
d727b429ad2ef8dc redeem_fees LEND
9ec99ebd215da267 withdraw_protocol_fee LEND
fec5e476b7ce3ee2 seed_deposit_on_init_reserve LEND user=0
f54b5b00ec611303 socialize_loss LEND
ee5f62dcbb28cc9a socialize_loss_v2 LEND
a423b6130074f37f mark_obligation_for_deleveraging LEND
02da8aeb4fc91966 refresh_reserve LEND
906e1a67a2ccfc93 refresh_reserves_batch LEND
a9c91e7e06cd6644 deposit_reserve_liquidity DEPOSIT user=0 pool=1 mint=4
ea75b57db98edc1d redeem_reserve_collateral WITHDRAW user=0 pool=2 mint=4
fb0ae74c1b0b9f60 init_obligation LEND user=0
883f0fbad398a8a4 init_obligation_farms_for_reserve LEND user=1
8c90fd150a4af803 refresh_obligation_farms_for_reserve LEND
218493e497c04859 refresh_obligation LEND
6cd1044815167685 deposit_obligation_collateral DEPOSIT user=0
8991975ea7710491 deposit_obligation_collateral_v2 DEPOSIT user=0
2574cd67f3c05cc6 withdraw_obligation_collateral WITHDRAW user=0 pool=4
caf97572e7c02f8a withdraw_obligation_collateral_v2 WITHDRAW user=0 pool=4
797f12cc49f5e141 borrow_obligation_liquidity BORROW user=0 pool=4
a1808ff5abc7c206 borrow_obligation_liquidity_v2 BORROW user=0 pool=4
91b20de14cf09348 repay_obligation_liquidity REPAY_LOAN user=0 pool=3 mint=4
74aed54cb435d290 repay_obligation_liquidity_v2 REPAY_LOAN user=0 pool=3 mint=4
0236980394606dda repay_and_withdraw_and_redeem REPAY_LOAN user=0 pool=3 mint=4
8d99270f403d5854 deposit_and_withdraw LEND user=0
81c70402de271a2e deposit_reserve_liquidity_and_obligation_collateral DEPOSIT user=0 pool=4 mint=5
d8e0bf1bcc9766af deposit_reserve_liquidity_and_obligation_collateral_v2 DEPOSIT user=0 pool=4 mint=5
4b5d5ddc2296dac4 withdraw_obligation_collateral_and_redeem_reserve_collateral WITHDRAW user=0 pool=4 mint=5
eb34779895c51407 withdraw_obligation_collateral_and_redeem_reserve_collateral_v2 WITHDRAW user=0 pool=4 mint=5
b1479abce2854a37 liquidate_obligation_and_redeem_reserve_collateral LIQUIDATE user=0 pool=4
a2a1238f1ebbb967 liquidate_obligation_and_redeem_reserve_collateral_v2 LIQUIDATE user=0 pool=4
b97500cb60f5b4ba flash_repay_reserve_liquidity LEND user=0
87e734a70734d4c1 flash_borrow_reserve_liquidity LEND user=0
2477fb8122f00793 request_elevation_group LEND user=0
742d42943a0dda73 init_referrer_token_state LEND user=0
75a9b045c5170fa2 init_user_metadata LEND user=0
ab7679c9e98c17e4 withdraw_referrer_fees LEND
a513197f64371f5a init_referrer_state_and_short_url LEND
99b9631ce4b3bb96 delete_referrer_state_and_short_url LEND
5101639cd3534e2e set_obligation_order LEND user=0
b1ba2d3deb5b448b set_borrow_order LEND user=0
6604a74c83aa5d13 fill_borrow_order LEND user=0
8c88d630570078ff init_global_config LEND user=0
a45482bd6f3afac8 update_global_config LEND
b85717c19ceeaf77 update_global_config_admin LEND
8250269950d4b6fd idl_missing_types LEND user=0
`,
  // https://github.com/Kamino-Finance/klend-sdk/blob/cf46535690/src/idl/kvault.json (2026-03-13)
  KvauGMspG5k6rtzrqqn7WNn3oZdyKqLKwK2XWQ8FLjd: `
4d4f559621d9346a init_vault -
0536d5704be87525 update_reserve_allocation -
f223c68952e1f2b6 deposit DEPOSIT user=0 vault=1 mint=3
66063d1201daebea buy -
b712469c946da122 withdraw WITHDRAW user=0 pool=15 vault=1 mint=6
33e685a4017f83ad sell -
0df5b467feb67904 invest -
7a0315de9effee9d update_vault_config -
83c2c88caff4d9b7 withdraw_pending_fees -
a1b028d53cb8b3e4 update_admin -
b1c878866ed99351 give_up_pending_fees -
030fac72c8008320 initialize_shares_metadata -
9b227aa5f589936b update_shares_metadata -
1383709baadc2239 withdraw_from_available WITHDRAW user=0 vault=1 mint=6
20dcd38dd1e7494c remove_allocation -
8c88d630570078ff init_global_config -
a45482bd6f3afac8 update_global_config -
b85717c19ceeaf77 update_global_config_admin -
db8b5fcc07b7762d add_update_whitelisted_reserve -
`,
  // https://github.com/Kamino-Finance/kliquidity-sdk/blob/4f6d60350c/src/idl/kliquidity.json (2026-07-06)
  '6LtLpnUFNByNXLyCoK9wA2MykKAmQNZKBdY8s47dehDc': `
d0779091b23969fc initialize_strategy -
cbd4085a5b766f32 initialize_kamino_reward -
aeae8ec12f4deb41 add_kamino_rewards -
71d87a83e1d11637 initialize_global_config -
4a3dd84cf45b1277 initialize_collateral_info -
4c5e832c893da16e update_collateral_info -
1661044ea6bc33be insert_collateral_info -
030fac72c8008320 initialize_shares_metadata -
9b227aa5f589936b update_shares_metadata -
a45482bd6f3afac8 update_global_config -
09f15e5bad4aa677 update_treasury_fee_vault -
51d9b14128e308a5 update_strategy_config -
cb2525601755e92a update_reward_mapping -
cceaccdb065b60f1 open_liquidity_position -
38f7aaf659dd86c8 close_strategy -
f223c68952e1f2b6 deposit DEPOSIT user=0 pool=3 mint=15
0df5b467feb67904 invest -
b712469c946da122 withdraw WITHDRAW user=0 pool=3 mint=17
9f276e8964eacc8d executive_withdraw -
71124b08b61f69ba collect_fees_and_rewards -
5c29ac1ebe41ae5a swap_rewards -
4b97bb7d32040b47 check_expected_vaults_balances -
fa8e66a0480c538b single_token_deposit_with_min -
816fae0c0a3c95c1 flash_swap_uneven_vaults_start -
e202be65ca849c14 flash_swap_uneven_vaults_end -
49e2f8d705c5d3e5 emergency_swap -
00a4564c38480caa withdraw_from_treasury -
a724204f61aab76c permisionless_withdraw_from_treasury -
5fe38adcf05f9671 withdraw_from_topup -
8ddd7beb230991c9 change_pool -
f50ec0d3632aaabb close_program_account -
215ef961fafec65d orca_swap -
e22aae8f909f8b01 sign_terms -
0de3a4ec202706ff update_strategy_admin -
1dd37fc0d580c8bb resize_token_infos -
8fdd24590c611dad deprecate_collateral_info -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/kamino-farms-decoder (2026-04-30)
  FarmsPZpWu9i7Kky8tPN37rs2TpmMrAZrC7S7vJa91Hr: `
58ba19e326895117 add_rewards -
83a6405e6cd572b7 deposit_to_farm_vault DEPOSIT user=0 vault=1
44c8e4e9b820e2bc harvest_reward CLAIM user=0
8250269950d4b6fd idl_missing_types -
fc1cb9acf44a75a5 initialize_farm -
fa546519334dcc5b initialize_farm_delegated -
71d87a83e1d11637 initialize_global_config -
5f87c0c4f281e644 initialize_reward -
6f11b9fa3c7a26fe initialize_user -
d6838ab790c2ac2a refresh_farm -
01870c3ef38c4d6c refresh_user_state -
db8939165eba6072 reward_user_once -
49abb84b1e38c6df set_stake_delegated -
ceb0ca12c8d1b36c stake DEPOSIT user=0 vault=2 mint=5
41b1d749352d632f transfer_ownership -
5a5f6b2acd7c32e1 unstake WITHDRAW user=0 vault=2
142588137aef2482 update_farm_admin -
d6b0bcf4cb3be6cf update_farm_config -
a45482bd6f3afac8 update_global_config -
b85717c19ceeaf77 update_global_config_admin -
165280fa564f7c4e withdraw_from_farm_vault WITHDRAW vault=1
bfbbb0890919bbf4 withdraw_reward -
cad9434aac168cd8 withdraw_slashed_amount -
283f7a9e90d85360 withdraw_treasury -
2466bb31dc248443 withdraw_unstaked_deposits WITHDRAW user=0 vault=2
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/kamino-limit-order-decoder (2026-04-30)
  LiMoM9rMhrdYrfzUCxQppvxCSG1FcrUK9G8uLq4A1GF: `
f41b0ce22df7e62b close_order_and_claim_tip CANCEL_ORDER owner=0 order=1 inputMint=4 outputMint=5
8d3625cfedd2fad7 create_order OPEN_ORDER owner=0 order=3 inputMint=4 outputMint=5
cef2d7bb8621e094 flash_take_order_end FILL_ORDER owner=1 keeper=0 order=4 inputMint=5 outputMint=6
7e35b00f276761f3 flash_take_order_start -
71d87a83e1d11637 initialize_global_config -
30bfa32c47813fa4 initialize_vault -
23765f4de72e8026 log_user_swap_balances -
a3d014acdf41ffe4 take_order FILL_ORDER owner=1 keeper=0 order=4 inputMint=5 outputMint=6
a45482bd6f3afac8 update_global_config -
b85717c19ceeaf77 update_global_config_admin -
8cf669a550558f12 withdraw_host_tip -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/meteora-dbc-decoder (2026-04-30)
  dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN: `
52dcfabd03556b2d claim_creator_trading_fee CLAIM user=8 pool=1
a5e4853063f9ff21 claim_protocol_fee -
08ec5931987db151 claim_trading_fee CLAIM pool=2
268652d85f7c1163 close_claim_fee_operator -
a93ecf6b3abba26d create_claim_fee_operator -
c9cff3724b6f2fbd create_config -
a75a899a4b2f1154 create_locker -
c0a8eabfbce2e3ff create_partner_metadata -
2d61bb67fe6d7c86 create_virtual_pool_metadata -
a50389071c864c50 creator_withdraw_surplus -
8c55d7b06636684f initialize_virtual_pool_with_spl_token CREATE user=10 mint=3 pool=5
a976334e916edc9b initialize_virtual_pool_with_token2022 CREATE user=8 mint=3 pool=5
1b013016b43f76d9 migrate_meteora_damm -
8b85021e5b917f9a migrate_meteora_damm_claim_lp_token -
b137ee9dfb58a52a migrate_meteora_damm_lock_lp_token -
9ca9e66735e45040 migration_damm_v2 -
6dbd1324c3b7de52 migration_damm_v2_create_metadata -
2f5e7e73dde2c285 migration_meteora_damm_create_metadata -
a8ad4864c962265c partner_withdraw_surplus -
3688e18aacb6d6a7 protocol_withdraw_surplus -
f8c69e91e17587c8 swap SWAP user=9 pool=2
414b3f4ceb5b5b88 swap2 SWAP user=9 pool=2
1407a9213a93a621 transfer_pool_creator -
14c6caedebf3b742 withdraw_leftover -
ed8e2d178106dea2 withdraw_migration_fee -
`,
  // https://github.com/pump-fun/pump-public-docs/blob/1b82215884/idl/pump.json (2026-05-19)
  '6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P': `
6f79153828185ed1 add_quote_mint -
4519ab8e39ef0d04 admin_set_creator -
08d960e79068c005 admin_set_idl_authority -
d10b7357d5177ccc admin_update_token_incentives -
66063d1201daebea buy SWAP user=6 pool=3
c2ab1c46684d5b2f buy_exact_quote_in_v2 SWAP user=13 pool=10
38fc74089edfcd5f buy_exact_sol_in SWAP user=6 pool=3
b817ee6167c5d33d buy_v2 SWAP user=13 pool=10
253a237ebe35e4c5 claim_cashback CLAIM user=0
7af3cc415e741d37 claim_cashback_v2 CLAIM user=0
1004471ccc01281b claim_token_incentives CLAIM user=0
f945a4da9667548a close_user_volume_accumulator -
1416567bc61cdb84 collect_creator_fee CLAIM user=0
cf118af204221338 collect_creator_fee_v2 CLAIM user=0
181ec828051c0777 create CREATE user=7 mint=0 pool=2
d6904cec5f8b31b4 create_v2 CREATE user=5 mint=0 pool=2
a572670079cef751 distribute_creator_fees -
ffcb134ff444089f distribute_creator_fees_v2 -
ea66c2cb96483ee5 extend_account -
75e17fca865f4423 get_minimum_distributable_fee -
5e06ca73ff60e8b7 init_user_volume_accumulator -
afaf6d1f0d989bed initialize -
9beae792ec9ea21e migrate -
577c34bf3426d6e8 migrate_bonding_curve_creator -
bbcb121fceedfe29 migrate_v2 -
b141df2658d19e9b remove_quote_mint -
33e685a4017f83ad sell SWAP user=6 pool=3
5df6823ce7e940b2 sell_v2 SWAP user=13 pool=10
fe94ff70cf8eaaa5 set_creator -
3da9bcbf99952a61 set_mayhem_virtual_params -
8a60aed93055c5f6 set_metaplex_creator -
1beab2349302bb8d set_params -
6faca2e87259d58e set_reserved_fee_recipients -
6587bf6809581460 set_virtual_quote_reserves -
561fc057a3574fee sync_user_volume_accumulator -
7367e0ffbd5956c3 toggle_cashback_enabled -
1cffe6f0ac6bcbab toggle_create_v2 -
01096fd0641fffa3 toggle_mayhem_mode -
fbe0ab92a01a71e9 update_buyback_config -
e3b54ac4d01561d5 update_global_authority -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/raydium-launchpad-decoder (2026-04-30)
  LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj: `
faea0d7bd59c13ec buy_exact_in SWAP user=0 pool=4
18d3742869039938 buy_exact_out SWAP user=0 pool=4
1a618acb84ab8dfc claim_creator_fee CLAIM user=0
9c27d0874ced3d48 claim_platform_fee CLAIM pool=2
75f1c6a8f8da501d claim_platform_fee_from_vault CLAIM
3121681ebd9d4f23 claim_vested_token CLAIM pool=2
3cadf767045d8230 collect_fee CLAIM user=0 pool=2
ffba96dfeb76c9ba collect_migrate_fee -
c9cff3724b6f2fbd create_config -
b05ac4affd71dc14 create_platform_config -
81b2020dd9ace6da create_vesting_account -
afaf6d1f0d989bed initialize CREATE user=0 mint=6 pool=5
4399af27da102620 initialize_v2 CREATE user=0 mint=6 pool=5
25be7ede2c9aab11 initialize_with_token_2022 CREATE user=0 mint=6 pool=5
cf52c091fecf91df migrate_to_amm -
885cc8671cda908c migrate_to_cpswap -
1b1e3ea95de01891 remove_platform_curve_param -
9527de9bd37c981a sell_exact_in SWAP user=0 pool=4
5fc8472208090ba6 sell_exact_out SWAP user=0 pool=4
1d9efcbf0a53db63 update_config -
c33c4c81922d438f update_platform_config -
8a908afadc800439 update_platform_curve_param -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/moonshot-decoder (2026-04-30)
  MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG: `
66063d1201daebea buy SWAP user=0 pool=2
0deca4ad6afda4b9 config_init -
50256d88528759f1 config_update -
2ae50ae7bd3ec1ae migrate_funds -
33e685a4017f83ad sell SWAP user=0 pool=2
032ca4b87b0df5b3 token_mint CREATE user=0 mint=3 pool=2
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/boop-decoder (2026-04-30)
  boop8hVGQGqehUK2iVEMEnMrL5RbjywRzHKBmBE7ry4: `
a5c73ed651360496 add_operators -
8a7f0e5b26577369 buy_token SWAP user=6 pool=1
5e837db8b7187de5 cancel_authority_transfer -
bd47bdef71423bbd close_bonding_curve_vault -
f95f7e5b51a253fa collect_meteora_trading_fees -
bd26cdea514d1901 collect_trading_fees -
51e95b84af1f978d complete_authority_transfer -
f6fe2125e1b029e8 create_meteora_pool -
412d774dccb25402 create_raydium_pool -
4e2cad1d84b404ac create_raydium_random_pool -
5434cce4188cea4b create_token CREATE user=3 mint=2
fdb87ec7ebe8aca2 create_token_fallback CREATE user=3 mint=2
b459c74ca8ecd98a deploy_bonding_curve -
35e6ac544dae163d deploy_bonding_curve_fallback -
a859631e753158e0 deposit_into_raydium ADD_TO_POOL user=5 pool=6
2debe1b511da4082 graduate -
afaf6d1f0d989bed initialize -
d22b65d7778c6ada initiate_authority_transfer -
adff94067a638c16 lock_raydium_liquidity -
2a145953de25046d remove_operators -
6d3d28bbe6b087ae sell_token SWAP user=6 pool=1
607ee12fb9d5323a split_trading_fees -
6bf883ef98ea3623 swap_sol_for_tokens_on_raydium SWAP user=5 pool=6 inputMint=12 outputMint=11
d8ac82942262d7a3 swap_tokens_for_sol_on_raydium SWAP user=5 pool=6 inputMint=11 outputMint=12
365393c67b61da48 toggle_paused -
1d9efcbf0a53db63 update_config -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/heaven-decoder (2026-04-30)
  HEAVENoP2qxoeuF8Dj2oT1GHEnu49U5mJYkdeC8BAX2o: `
cc485fd7acc089fc admin_borrow_sol -
7c303cc7cb312429 admin_claim_msol -
18a3dcabe1dea6f8 admin_claim_staking_rewards -
b627a819603f4c11 admin_claim_standard_creator_trading_fees -
cebdd0a61351ca30 admin_deposit_msol -
8cca39c361d5a813 admin_mint_msol -
883d30e8a61acf2e admin_repay_sol -
fdda8dfc2809079a admin_unstake_msol -
63e4293fddf4c8c7 admin_update_standard_liquidity_pool_state -
f9db8d48d26ed863 admin_withdraw_msol -
754fa4cb7e4816f6 admin_withdraw_transfer_fee -
66063d1201daebea buy SWAP user=5 pool=4
00c9e2e47f2d456e claim_standard_creator_trading_fee_protocol_fees -
a559dd34aaf9226f claim_standard_creator_trading_fees CLAIM user=5 pool=4
54ce8cf53fd440ed claim_standard_protocol_trading_fees -
4694259366141e17 claim_standard_reflection_trading_fees CLAIM
4f48302777032a74 close_protocol_lookup_table -
157eb014556f351f create_or_update_protocol_fee_admin -
aa7c802830698b94 create_or_update_protocol_owner -
04acc4d578321e89 create_or_update_protocol_staking_admin -
7372186f0e3571fe create_protocol_config -
f9036399a8f1f3e4 create_protocol_lookup_table -
2a2b7e38e70ad035 create_standard_liquidity_pool -
da0c583a962c9848 deactivate_protocol_lookup_table -
07e3c6016b711f58 extend_protocol_lookup_table -
00cdedf01b4f1b3b initialize_protocol_lending -
208f535e17223bef remaining_accounts_stub -
33e685a4017f83ad sell SWAP user=5 pool=4
b552130f7ecd98f2 set_protocol_slot_fees -
dffce73e60dbf1d6 update_allow_create_pool -
f6e5c84f1f157819 update_creator_trading_fee_receiver -
c5617b36dda80b87 update_protocol_config -
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/marginfi-v2-decoder (2026-04-30)
  MFv2hWf31Z9kbCa1snEPYctwafyhdvnV7FZnsebVacA: `
047e74353005d41f lending_account_borrow BORROW user=2 pool=3
f5362904f3ca1f11 lending_account_close_balance LEND user=2
ab5eeb675240d48c lending_account_deposit DEPOSIT user=2 pool=3
697cc96a9902089c lending_account_end_flashloan LEND user=1
d6a997d5fba756db lending_account_liquidate LIQUIDATE user=4 pool=1
4fd1acb1de33ad97 lending_account_repay REPAY_LOAN user=2 pool=3
a13a88aef2df9cb0 lending_account_settle_emissions LEND
0e8321dc51bab46b lending_account_start_flashloan LEND user=1
24484a13d2d2c0c0 lending_account_withdraw WITHDRAW user=2 pool=3
ea1654d676b08caa lending_account_withdraw_emissions WITHDRAW user=2 pool=3
6cc91e572f4161bc lending_pool_accrue_bank_interest LEND
d744484ed0da67b6 lending_pool_add_bank LEND
4cd3d5ab754e9e4c lending_pool_add_bank_with_seed LEND
c905d774e65c4b96 lending_pool_collect_bank_fees LEND
79ad9c285d9438ed lending_pool_configure_bank LEND
a20b388b5a8046ad lending_pool_handle_bankruptcy LEND
ce6178ac71cca946 lending_pool_setup_emissions LEND
37d5e0a89935c528 lending_pool_update_emissions_parameters LEND
2b4e3dff9434f99a marginfi_account_initialize LEND user=2
3ec7514e210dec3d marginfi_group_configure LEND
ff43431a5e1f2214 marginfi_group_initialize LEND
38ee12cfc1528aae set_account_flag LEND
99a23254b6c94ab3 set_new_account_authority LEND user=2
385138555c31ff46 unset_account_flag LEND
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/sharky-decoder (2026-04-30)
  SHARKobtfF1bHhxD2eqftjHBdVSCbKo9JtgK71FhELP: `
23087952da4efca2 close_nft_list LEND user=1
db8649dbb4075ece close_order_book LEND user=1
f326c64cac407f18 create_nft_list LEND user=1
997209336444f0c5 create_order_book LEND user=1
67d800ee5c6bdb79 create_program_version LEND user=0
471b11834e493e5c extend_loan_v3 LEND user=2
94a14b578a22833e extend_loan_v3_compressed LEND user=2
88b8323ab75c3fd8 foreclose_loan_v3 LIQUIDATE user=4
c2c105c17385e7c5 foreclose_loan_v3_compressed LIQUIDATE user=2
2c0c4c90d2d0ef55 offer_loan DEPOSIT user=0 pool=6 vault=4
617b55364c103d9d repay_loan_v3 REPAY_LOAN user=1 pool=8
9f9ff5a8bf9a6406 repay_loan_v3_compressed REPAY_LOAN user=1 pool=5
4040a0d33324b19e rescind_loan WITHDRAW user=2 vault=4
ff73dc3a1a9d70b9 take_loan_v3 BORROW user=1 pool=7
f1726a4f1059e97d take_loan_v3_compressed BORROW user=1 pool=4
d70d19bb0b5d228f update_nft_list LEND user=1
1f489fe8dc995a6d update_order_book LEND user=1
eb84d7e1d52b2b26 update_program_version LEND user=0
`,
  // https://github.com/solendprotocol/solana-program-library/blob/9ffd16ddf0/token-lending/sdk/src/instruction.rs (2024-10-18)
  So1endDq2YkqhipRh3WViPa8hdiSpxWy6z3Z6tMCpAo: `
00 init_lending_market LEND
01 set_lending_market_owner_and_config LEND
02 init_reserve LEND
03 refresh_reserve LEND
04 deposit_reserve_liquidity DEPOSIT user=7 pool=2
05 redeem_reserve_collateral WITHDRAW user=7 pool=2
06 init_obligation LEND user=2
07 refresh_obligation LEND
08 deposit_obligation_collateral DEPOSIT user=5 pool=2
09 withdraw_obligation_collateral WITHDRAW user=6 pool=2
0a borrow_obligation_liquidity BORROW user=7 pool=2
0b repay_obligation_liquidity REPAY_LOAN user=5 pool=2
0c liquidate_obligation LIQUIDATE user=9 pool=2
0d flash_loan LEND
0e deposit_reserve_liquidity_and_obligation_collateral DEPOSIT user=9 pool=2
0f withdraw_obligation_collateral_and_redeem_reserve_collateral WITHDRAW user=9 pool=2
10 update_reserve_config LEND
11 liquidate_obligation_and_redeem_reserve_collateral LIQUIDATE pool=3
12 redeem_fees LEND
13 flash_borrow_reserve_liquidity LEND
14 flash_repay_reserve_liquidity LEND
15 forgive_debt LEND
16 update_market_metadata LEND
17 set_obligation_closeability_status LEND
18 donate_to_reserve LEND
`,
  // https://solscan.io/tx/2Ufr5q6oenWZgbQJyDAoCiLQs93b2UcC3x2ipe9ZkESS2UoFEDMofUQuS31a8tipkUpn7gegsrcSPGVjrsURifq2 (2025-08-22)
  SoLFiHG9TfgtdUXUjWAxi3LtvYuFyDLVhBWxdMZxyCe: `
06 set_prices QUOTE_UPDATE
07 swap SWAP
`,
  // https://solscan.io/tx/2zVKMjUiHundkD3hZXjMFgNtTufkbkSLq6fqCwfL1Bp335EQva2d3nZcWNUz5JRv7rLdHymoGcddYnt533sZaqQp (2025-08-22)
  E2uCGJ4TtYyKPGaK57UMfbs9sgaumwDEZF1aAY6fF3mS: `
09 set_prices QUOTE_UPDATE
`,
  // https://solscan.io/tx/5gDzndWNEa9FRVZbiYYwgAzDxS53VFgzSdnNJjpLgtZEMdWZUBpgaxvRN2KsK9rJBqcaBPXTyqjdoUZX8yH6rGo4 (2025-08-22)
  ZERor4xhbUycZ6gb9ntrhqscUcZmAbQDjEAtCf4hbZY: `
05 set_prices QUOTE_UPDATE
06 swap SWAP
`,
  // https://solscan.io/tx/2SNQK1kvQ2G3kTAXrnhcAc7B2jMAvuwaQdavCxkTtkUoj9Yj5hCNB69ZWt4koceY2BgjFLxc6bH2FYdhpvLgE3H1 (2025-08-22)
  TessVdML9pBGgG9yGks7o4HewRaXVAMuoVj4x83GLQH: `
0d set_prices QUOTE_UPDATE
`,
  // https://solscan.io/tx/2aJQ5hFKBVAu4kYMWdpYDq7F57ytgHbhD34MH2LpYim8A8y9TeMw8GQAAkJAQuPqhNXBJPXMEgfaFUrKXdCTzJKm (2025-08-22)
  goonERTdGsjnkZqWuVjs73BZ3Pb9qoCUdBUL17BnS5j: `
01 set_prices QUOTE_UPDATE
`,
  // https://github.com/magicoss/m2/blob/553914eb57/src/idl/m2.json (2024-01-17)
  M2mx93ekt1fmXSVkTrUL9xVFHkmME8HTUi5Cyc5aF7K: `
00a4564c38480caa withdraw_from_treasury -
54d702acf100f5db update_auction_house -
b712469c946da122 withdraw WITHDRAW user=0
f223c68952e1f2b6 deposit DEPOSIT user=0
33e685a4017f83ad sell NFT_LISTING seller=0 mint=4
c6c682cba35faf4b cancel_sell NFT_CANCEL_LISTING seller=0 mint=3
66063d1201daebea buy NFT_BID buyer=0 mint=2
b817ee6167c5d33d buy_v2 NFT_BID buyer=0 mint=2
ee4c24da84b1e0e9 cancel_buy NFT_BID_CANCELLED buyer=0 mint=2
1629d9dc15683d63 ocp_sell NFT_LISTING seller=0 mint=4
490437f6259b02a6 ocp_cancel_sell NFT_CANCEL_LISTING seller=0 mint=4
c8531f529c9c1461 ocp_execute_sale_v2 NFT_SALE seller=2 buyer=1 mint=7 treasury=10 takerBroker=14 makerBroker=15 vault=13
5bdc31dfcc8135c1 execute_sale_v2 NFT_SALE seller=1 buyer=0 mint=4 treasury=10 takerBroker=12 makerBroker=14 vault=6
3a32ac6fa697165e mip1_sell NFT_LISTING seller=0 mint=4
eca3ccad4790eb76 mip1_execute_sale_v2 NFT_SALE seller=2 buyer=1 mint=7 treasury=10 takerBroker=14 makerBroker=15 vault=13
4abeb9e15869d19c mip1_cancel_sell NFT_CANCEL_LISTING seller=0 mint=4
254ad99d4f312306 execute_sale NFT_SALE seller=1 buyer=0 mint=4 treasury=10 takerBroker=12 makerBroker=14 vault=6
1ff3f73b8653a5da core_sell NFT_LISTING seller=1 mint=4 inputMint=9
424427ed09f77afd core_cancel_sell NFT_CANCEL_LISTING seller=1 mint=4
d562c518f2359a23 core_execute_sale_v2 NFT_SALE seller=2 buyer=1 mint=5 treasury=7 takerBroker=11 makerBroker=12 vault=10
fac8b1e59d21f589 ext_sell NFT_LISTING
7a920410d90846d6 ext_cancel_sell NFT_CANCEL_LISTING
76b809468676729f ext_execute_sale_v2 NFT_SALE seller=2 buyer=1 mint=7 treasury=9 takerBroker=13 makerBroker=14 vault=12
`,
  // https://github.com/me-foundation/mmm/blob/0a054d2f48/sdk/src/idl/mmm.ts (2024-11-27)
  mmm3XBJg5gk8XJxEKBvdgptZz6SgK4tXvn36sodowMc: `
e992d18ecf6840bc create_pool -
efd6aa4e24231e22 update_pool -
1c4edeebd144b653 update_allowlists -
f87de814754eeaea sol_close_pool -
42e50b366da455ee sol_deposit_buy DEPOSIT user=0 pool=2
9a2950e8ae30f623 sol_withdraw_buy WITHDRAW user=0 pool=2
5c10e24f1ff23576 sol_fulfill_buy NFT_SALE seller=0 buyer=1 mint=8 pool=4 treasury=3 vault=5
a4b460c067e169e8 sol_fulfill_sell NFT_SALE seller=1 buyer=0 mint=8 pool=4 treasury=3 vault=5
2f2a9ce4f9a3feb9 withdraw_sell NFT_CANCEL_LISTING seller=0 mint=3
90832c9cc50ac52b deposit_sell NFT_LISTING seller=0 mint=5
218955854de0aefd ocp_deposit_sell NFT_LISTING seller=0 mint=4
71e1aa41b5d40a21 sol_ocp_fulfill_buy NFT_SALE seller=0 buyer=1 mint=7 pool=4 treasury=3 vault=5
d5283a63816df593 sol_ocp_fulfill_sell NFT_SALE seller=1 buyer=0 mint=7 pool=4 treasury=3 vault=5
3fd5366d6db689bf ocp_withdraw_sell NFT_CANCEL_LISTING seller=0 mint=3
9e595efd7811782f mip1_deposit_sell NFT_LISTING seller=0 mint=4
b1ce9a8d03f88010 mip1_withdraw_sell NFT_CANCEL_LISTING seller=0 mint=3
3b0b496b286940d2 sol_mip1_fulfill_sell NFT_SALE seller=1 buyer=0 mint=7 pool=4 treasury=3 vault=5
ec529e7a0818af91 sol_mip1_fulfill_buy NFT_SALE seller=0 buyer=1 mint=7 pool=4 treasury=3 vault=5
452a6c605d6170c8 close_if_balance_invalid -
c9a73c9a0718edf7 set_shared_escrow -
5af90b2261e2557d ext_deposit_sell NFT_LISTING seller=0 mint=3
7913c7be30f0b673 sol_ext_fulfill_sell NFT_SALE seller=1 buyer=0 mint=6 pool=4 treasury=3 vault=5
9d5a7ad45a795378 sol_ext_fulfill_buy NFT_SALE seller=0 buyer=1 mint=6 pool=4 treasury=3 vault=5
337c8008ea3b1fcf ext_withdraw_sell NFT_CANCEL_LISTING seller=0 mint=3
ee44eefec6da5a72 mpl_core_deposit_sell NFT_LISTING seller=0 mint=3
b536cc9d560e4222 mpl_core_withdraw_sell NFT_CANCEL_LISTING seller=0 mint=3
fce7c9b01ed57612 sol_mpl_core_fulfill_sell NFT_SALE seller=1 buyer=0 mint=6 pool=4 treasury=3 vault=5
aba722c170158e59 sol_mpl_core_fulfill_buy NFT_SALE seller=0 buyer=1 mint=6 pool=4 treasury=3 vault=5
91ade944244cc309 cnft_fulfill_buy NFT_SALE seller=0 buyer=1 pool=4 treasury=3 vault=5
`,
  // https://github.com/tensor-foundation/marketplace/blob/153c22c910/program/idl.json (2025-06-26)
  TCMPhJdwDryooaGtiocG1u3xcYbRpiJzb283XfCZsDp: `
6aa20ae28444df15 tcomp_noop -
0fb72156571c9791 edit NFT_LISTING seller=1
c738552692f3259e bid NFT_BID buyer=3
28f3bed9d0fd56ce cancel_bid NFT_BID_CANCELLED buyer=1
53146943f84468be close_expired_bid NFT_BID_CANCELLED buyer=1
66063d1201daebea buy NFT_SALE seller=11 buyer=9 treasury=0 takerBroker=12 makerBroker=13
4188feff3b82eaae buy_spl NFT_SALE seller=15 buyer=12 treasury=0 takerBroker=18 makerBroker=20
96460d8709cc4b04 close_expired_listing NFT_CANCEL_LISTING seller=1
36aec14311298426 list NFT_LISTING seller=1
3788cd6b6bad041f delist NFT_CANCEL_LISTING seller=7
55e3ca462dd70ac1 take_bid_meta_hash NFT_SALE seller=2 buyer=12 treasury=0 takerBroker=13 makerBroker=14 vault=11
f2c2cbe1ea350a60 take_bid_full_meta NFT_SALE seller=2 buyer=12 treasury=0 takerBroker=13 makerBroker=14 vault=11
447f2b08d41ff972 buy_legacy NFT_SALE seller=6 buyer=1 mint=5 treasury=0 takerBroker=8 makerBroker=9
865e7de5189dc2c7 buy_legacy_spl NFT_SALE seller=8 buyer=2 mint=6 treasury=0 takerBroker=13 makerBroker=12
381060bc3744fa3a close_expired_listing_legacy NFT_CANCEL_LISTING seller=0 mint=4
5823e7b86eda9517 delist_legacy NFT_CANCEL_LISTING seller=0 mint=4
066eff121024081e list_legacy NFT_LISTING seller=0 mint=4
bc23746c00e9edc9 take_bid_legacy NFT_SALE seller=1 buyer=3 mint=9 treasury=0 takerBroker=4 makerBroker=5 vault=2
5162e3abc969b4d8 buy_t22 NFT_SALE seller=6 buyer=1 mint=5 treasury=0 takerBroker=8 makerBroker=9
6615a3275e277a5e buy_t22_spl NFT_SALE seller=8 buyer=2 mint=6 treasury=0 takerBroker=12 makerBroker=14
4502be7a90777adc close_expired_listing_t22 NFT_CANCEL_LISTING seller=0 mint=4
d8484912cc527b1a delist_t22 NFT_CANCEL_LISTING seller=0 mint=4
09755de6dd04c7d4 list_t22 NFT_LISTING seller=0 mint=4
12fa71f21ff41396 take_bid_t22 NFT_SALE seller=1 buyer=3 mint=9 treasury=0 takerBroker=4 makerBroker=5 vault=2
a82bb3d92c3b23f4 buy_wns NFT_SALE seller=6 buyer=1 mint=5 treasury=0 takerBroker=8 makerBroker=9
71893917bac4d9d2 buy_wns_spl NFT_SALE seller=8 buyer=2 mint=6 treasury=0 takerBroker=12 makerBroker=14
de1fb786e6cf0784 close_expired_listing_wns NFT_CANCEL_LISTING seller=0 mint=4
acab39104a9e2039 delist_wns NFT_CANCEL_LISTING seller=0 mint=4
17ca668affbe27c4 list_wns NFT_LISTING seller=0 mint=4
58057a58fa8b23d8 take_bid_wns NFT_SALE seller=1 buyer=3 mint=9 treasury=0 takerBroker=4 makerBroker=5 vault=2
a9e357ff4c56ff19 buy_core NFT_SALE seller=6 buyer=4 mint=2 treasury=0 takerBroker=7 makerBroker=8
ea1c257a72efe9d0 buy_core_spl NFT_SALE seller=7 buyer=2 mint=4 treasury=0 takerBroker=11 makerBroker=13
59ab4e504abc3f3a close_expired_listing_core NFT_CANCEL_LISTING seller=3 mint=1
3818e702e3130e44 delist_core NFT_CANCEL_LISTING seller=2 mint=0
ad4ca77d76470199 list_core NFT_LISTING seller=3 mint=0
fa29f8143da11b8d take_bid_core NFT_SALE seller=1 buyer=3 mint=8 treasury=0 takerBroker=4 makerBroker=5 vault=2
`,
  // https://github.com/tensor-foundation/escrow/blob/ab2a30d2cf/clients/anchor/src/tensorswap/idl/tensorswap.ts (2025-11-27)
  TSWAPaqyCSx2KABk68Shruf4rp7CxcNi8hAsbdwmHbN: `
8cb936ac0f5e1f9b init_update_tswap -
74e9c7cc739fab24 init_pool -
8cbdd117ef3eef0b close_pool -
5de284a68d093065 deposit_nft NFT_LISTING seller=7 mint=4
8eb5bf9552afd864 withdraw_nft NFT_CANCEL_LISTING seller=7 mint=4
6c514e757d9b38c8 deposit_sol DEPOSIT user=4 pool=1
91834a8841892a26 withdraw_sol WITHDRAW user=4 pool=1
60001cbe316b53de buy_nft NFT_SALE seller=10 buyer=11 mint=5 pool=2 treasury=1 takerBroker=24 vault=9
392cc03053086b30 sell_nft_token_pool NFT_SALE seller=10 buyer=9 mint=6 pool=2 treasury=1 takerBroker=26 vault=8
83527d4d0d9d245a sell_nft_trade_pool NFT_SALE seller=10 buyer=9 mint=6 pool=2 treasury=1 takerBroker=25 vault=8
32ae222403a61dcc edit_pool -
728025a747e328b2 realloc_pool -
0a3644fc82612734 init_margin_account -
69d729efa6cf0167 close_margin_account -
be55f23c775121c0 deposit_margin_account DEPOSIT user=2
364996d0cf051211 withdraw_margin_account WITHDRAW user=2
bb69d389e03b1de3 attach_pool_to_margin -
b6364926bc57b965 detach_pool_from_margin -
6ec9be40a6ba6983 set_pool_freeze -
0a9730e2f818e3e7 take_snipe NFT_SALE
7dbf7771060ea417 edit_pool_in_place -
1be58069737db497 withdraw_tswap_fees -
36aec14311298426 list NFT_LISTING seller=5 mint=2
3788cd6b6bad041f delist NFT_CANCEL_LISTING seller=5 mint=2
f5dc694975624e8d buy_single_listing NFT_SALE seller=7 buyer=8 mint=4 treasury=1 takerBroker=20
5826ecd41fb912a6 edit_single_listing NFT_LISTING seller=2 mint=1
3696817e87cd9578 withdraw_mm_fee WITHDRAW user=4 pool=1
ba1ac786dcb12048 withdraw_margin_account_cpi WITHDRAW user=3 mint=4
c99ca31bf30e24ed withdraw_margin_account_cpi_tcomp WITHDRAW user=2
cfeba6ffa3a2952c withdraw_margin_account_cpi_tlock WITHDRAW user=2
9bdb7ef5aac7334f buy_nft_t22 NFT_SALE seller=9 buyer=10 mint=5 pool=2 treasury=1 takerBroker=15 vault=8
d02206935fda31a0 deposit_nft_t22 NFT_LISTING seller=7 mint=4
95ea1f671a24a631 sell_nft_token_pool_t22 NFT_SALE seller=9 buyer=8 mint=6 pool=2 treasury=1 takerBroker=15 vault=7
7c91173448715509 sell_nft_trade_pool_t22 NFT_SALE seller=9 buyer=8 mint=6 pool=2 treasury=1 takerBroker=15 vault=7
703750e7b5be5c0c withdraw_nft_t22 NFT_CANCEL_LISTING seller=7 mint=4
66594200054454d8 buy_single_listing_t22 NFT_SALE seller=6 buyer=7 mint=4 treasury=1 takerBroker=11
09755de6dd04c7d4 list_t22 NFT_LISTING seller=5 mint=2
d8484912cc527b1a delist_t22 NFT_CANCEL_LISTING seller=5 mint=2
d8fd6a1db6f3004e wns_buy_nft NFT_SALE seller=9 buyer=10 mint=5 pool=2 treasury=1 takerBroker=15 vault=8
f594f13a0dfd28c3 wns_deposit_nft NFT_LISTING seller=7 mint=4
284ef14eccee2e8f wns_sell_nft_token_pool NFT_SALE seller=9 buyer=8 mint=6 pool=2 treasury=1 takerBroker=15 vault=7
a9af7d5801108207 wns_sell_nft_trade_pool NFT_SALE seller=9 buyer=8 mint=6 pool=2 treasury=1 takerBroker=16 vault=7
33988fa301ee9c77 wns_withdraw_nft NFT_CANCEL_LISTING seller=7 mint=4
1c0e84cfd4f879c7 wns_buy_single_listing NFT_SALE seller=6 buyer=7 mint=4 treasury=1 takerBroker=11
d4c1a1d7802bbecc wns_list NFT_LISTING seller=5 mint=2
83e2a186e984f39f wns_delist NFT_CANCEL_LISTING seller=5 mint=2
`,
  // https://github.com/tensor-foundation/amm/blob/455e3eb567/program/idl.json (2025-03-03)
  TAMM6ub33ij1mbetoMyVBLeKY5iP41i4UPUJQGkhfsg: `
1fa2e49e99a0c6b6 tamm_noop -
e992d18ecf6840bc create_pool -
32ae222403a61dcc edit_pool -
8cbdd117ef3eef0b close_pool -
6cd4e93584533fdb close_expired_pool -
6c514e757d9b38c8 deposit_sol DEPOSIT user=0 pool=1
91834a8841892a26 withdraw_sol WITHDRAW user=0 pool=1
5de284a68d093065 deposit_nft NFT_LISTING seller=0 mint=4
8eb5bf9552afd864 withdraw_nft NFT_CANCEL_LISTING seller=0 mint=4
60001cbe316b53de buy_nft NFT_SALE seller=0 buyer=1 mint=14 pool=4 treasury=3 takerBroker=9 makerBroker=8
392cc03053086b30 sell_nft_token_pool NFT_SALE seller=1 buyer=0 mint=14 pool=4 treasury=3 takerBroker=9 makerBroker=8
83527d4d0d9d245a sell_nft_trade_pool NFT_SALE seller=1 buyer=0 mint=14 pool=4 treasury=3 takerBroker=9 makerBroker=8
49150440a1d6f84d deposit_nft_core NFT_LISTING seller=0 mint=4
7083ef74bb957291 withdraw_nft_core NFT_CANCEL_LISTING seller=0 mint=4
a3663a6bb804a979 buy_nft_core NFT_SALE seller=0 buyer=1 mint=14 pool=4 treasury=3 takerBroker=9 makerBroker=8
89e3c57af5e538cd sell_nft_token_pool_core NFT_SALE seller=1 buyer=0 mint=14 pool=4 treasury=3 takerBroker=9 makerBroker=8
25cd8d3556f52d4e sell_nft_trade_pool_core NFT_SALE seller=1 buyer=0 mint=14 pool=4 treasury=3 takerBroker=9 makerBroker=8
d02206935fda31a0 deposit_nft_t22 NFT_LISTING seller=0 mint=4
703750e7b5be5c0c withdraw_nft_t22 NFT_CANCEL_LISTING seller=0 mint=4
9bdb7ef5aac7334f buy_nft_t22 NFT_SALE seller=0 buyer=1 mint=14 pool=4 treasury=3 takerBroker=9 makerBroker=8
95ea1f671a24a631 sell_nft_token_pool_t22 NFT_SALE seller=1 buyer=0 mint=14 pool=4 treasury=3 takerBroker=9 makerBroker=8
7c91173448715509 sell_nft_trade_pool_t22 NFT_SALE seller=1 buyer=0 mint=14 pool=4 treasury=3 takerBroker=9 makerBroker=8
`,
  // https://github.com/tensor-foundation/escrow/blob/ab2a30d2cf/clients/anchor/src/tensor_bid/idl/tensor_bid.ts (2025-11-27)
  TB1Dqt8JeKQh7RLDzfYDJsq8KS4fS2yt87avRjyRxMv: `
c738552692f3259e bid NFT_BID buyer=2 mint=0
8fe3151c9880070a take_bid NFT_SALE seller=9 buyer=8 mint=2 treasury=1 takerBroker=24 vault=7
12fa71f21ff41396 take_bid_t22 NFT_SALE seller=7 buyer=6 mint=2 treasury=1 takerBroker=14 vault=5
0f09e17776aa1266 wns_take_bid NFT_SALE seller=7 buyer=6 mint=2 treasury=1 takerBroker=14 vault=5
28f3bed9d0fd56ce cancel_bid NFT_BID_CANCELLED buyer=2 mint=0
53146943f84468be close_expired_bid NFT_BID_CANCELLED buyer=2 mint=0
`,
  // https://github.com/metaplex-foundation/mpl-bubblegum/blob/575f7292e6/idls/bubblegum.json (2026-06-08)
  BGUMAp9Gq7iTEuizy4pqaxsTyUCBK68MDfK752saRPUY: `
746e1d386bdb2a5d burn COMPRESSED_NFT_BURN owner=1 tree=3
73d222f0e88fb710 burn_v2 COMPRESSED_NFT_BURN owner=3 tree=5
6f4ce83227af30f2 cancel_redeem -
2dac065e1c5a9d46 close_tree_v2 -
150b9f2f04c36a38 collect_v2 -
52c1b075b01573fd compress -
a553888e59ca2fdc create_tree -
37635fd78ecbe3cd create_tree_v2 -
36554c46e4faa451 decompress_v1 -
5a934bb255580489 delegate -
11e523dabef1fa7b delegate_and_freeze_v2 -
5f577d8cb58380e3 delegate_v2 -
c897f46610c3ff03 freeze_v2 -
9912b22fc59e560f mint_to_collection_v1 COMPRESSED_NFT_MINT owner=1 tree=3
9162c076b8937668 mint_v1 COMPRESSED_NFT_MINT owner=1 tree=3
78791792ad6ec7cd mint_v2 COMPRESSED_NFT_MINT owner=4 tree=6
b80c569546c461e1 redeem -
ebf279d89eeab4ea set_and_verify_collection -
e5233d5b0f0e63a0 set_collection_v2 -
1287eea8f6c33d73 set_decompressable_state -
52689806956f640d set_decompressible_state -
b58dce3af2c798a8 set_non_transferable_v2 -
fd764225be319a66 set_tree_delegate -
56d6be25a7041c74 thaw_and_revoke_v2 -
6085655d52dc92bf thaw_v2 -
a334c8e78c0345ba transfer COMPRESSED_NFT_TRANSFER owner=1 newOwner=3 tree=4
772806ebeaddf831 transfer_v2 COMPRESSED_NFT_TRANSFER owner=3 newOwner=5 tree=6
fafb2a6a2989baa8 unverify_collection -
6bb2392769737098 unverify_creator -
ae701d8ee664ef07 unverify_creator_v2 -
3b386f2b5f0e0b3d update_asset_data_v2 -
aab62bef614ee1ba update_metadata -
2b67592a79f23e48 update_metadata_v2 -
387165fd4f377aa9 verify_collection -
34116084470455c2 verify_creator -
558a8c2a16f17666 verify_creator_v2 -
`,
  // https://github.com/metaplex-foundation/mpl-core/blob/2181404f90/idls/mpl_core.json (2026-06-18)
  CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d: `
00 create_v1 NFT_MINT user=3 owner=4 mint=0
01 create_collection_v1 -
02 add_plugin_v1 -
03 add_collection_plugin_v1 -
04 remove_plugin_v1 -
05 remove_collection_plugin_v1 -
06 update_plugin_v1 -
07 update_collection_plugin_v1 -
08 approve_plugin_authority_v1 -
09 approve_collection_plugin_authority_v1 -
0a revoke_plugin_authority_v1 -
0b revoke_collection_plugin_authority_v1 -
0c burn_v1 BURN_NFT owner=3 user=2 mint=0
0d burn_collection_v1 -
0e transfer_v1 NFT_TRANSFER owner=3 user=2 newOwner=4 mint=0
0f update_v1 -
10 update_collection_v1 -
11 compress_v1 -
12 decompress_v1 -
13 collect -
14 create_v2 NFT_MINT user=3 owner=4 mint=0
15 create_collection_v2 -
16 add_external_plugin_adapter_v1 -
17 add_collection_external_plugin_adapter_v1 -
18 remove_external_plugin_adapter_v1 -
19 remove_collection_external_plugin_adapter_v1 -
1a update_external_plugin_adapter_v1 -
1b update_collection_external_plugin_adapter_v1 -
1c write_external_plugin_adapter_data_v1 -
1d write_collection_external_plugin_adapter_data_v1 -
1e update_v2 -
1f execute_v1 -
20 update_collection_info_v1 -
21 add_collections_to_group_v1 -
22 remove_collections_from_group_v1 -
23 add_assets_to_group_v1 -
24 remove_assets_from_group_v1 -
25 add_groups_to_group_v1 -
26 remove_groups_from_group_v1 -
27 create_group_v1 -
28 close_group_v1 -
29 update_group_v1 -
`,
  // https://github.com/metaplex-foundation/mpl-token-metadata/blob/c314930196/idls/token_metadata.json (2026-01-15)
  metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s: `
00 create_metadata_account -
01 update_metadata_account -
02 deprecated_create_master_edition -
03 deprecated_mint_new_edition_from_master_edition_via_printing_token NFT_MINT user=9 mint=3
04 update_primary_sale_happened_via_token -
05 deprecated_set_reservation_list -
06 deprecated_create_reservation_list -
07 sign_metadata -
08 deprecated_mint_printing_tokens_via_token -
09 deprecated_mint_printing_tokens -
0a create_master_edition -
0b mint_new_edition_from_master_edition_via_token NFT_MINT user=6 mint=3
0c convert_master_edition_v1_to_v2 -
0d mint_new_edition_from_master_edition_via_vault_proxy NFT_MINT mint=3
0e puff_metadata -
0f update_metadata_account_v2 -
10 create_metadata_account_v2 -
11 create_master_edition_v3 -
12 verify_collection -
13 utilize -
14 approve_use_authority -
15 revoke_use_authority -
16 unverify_collection -
17 approve_collection_authority -
18 revoke_collection_authority -
19 set_and_verify_collection -
1a freeze_delegated_account -
1b thaw_delegated_account -
1c remove_creator_verification -
1d burn_nft BURN_NFT owner=1 mint=2
1e verify_sized_collection_item -
1f unverify_sized_collection_item -
20 set_and_verify_sized_collection_item -
21 create_metadata_account_v3 -
22 set_collection_size -
23 set_token_standard -
24 bubblegum_set_collection_size -
25 burn_edition_nft BURN_NFT owner=1 mint=2
26 create_escrow_account -
27 close_escrow_account -
28 transfer_out_of_escrow -
29 burn - owner=0 mint=4 tokenRecord=10
2a create -
2b mint - owner=1 mint=5 tokenRecord=4
2c delegate -
2d revoke -
2e lock -
2f unlock -
30 migrate -
31 transfer - owner=1 newOwner=3 mint=4 tokenRecord=7
32 update -
33 use -
34 verify -
35 unverify -
36 collect -
37 print - mint=2
38 resize -
39 close_accounts -
`,
  // https://github.com/metaplex-foundation/mpl-candy-machine/blob/8ec4c333d7/idls/candy_machine_core.json (2025-01-29)
  CndyV3LdqHUfDLmE5naZjVN8rBZz4tqhdefbAnjHG3JR: `
df32e0e39708736a add_config_lines -
afaf6d1f0d989bed initialize -
4399af27da102620 initialize_v2 -
3339e12fb69289a6 mint NFT_MINT user=3 mint=4
78791792ad6ec7cd mint_v2 NFT_MINT user=3 owner=4 mint=5
85fa25156ea31a79 set_authority -
c0fece4ca8b63bdf set_collection -
e5233d5b0f0e63a0 set_collection_v2 -
437f9bbb64ae6779 set_mint_authority -
93d46ac31eaad180 set_token_standard -
dbc858b09e3ffd7f update -
b712469c946da122 withdraw -
`,
  // https://github.com/metaplex-foundation/mpl-candy-machine/blob/8ec4c333d7/idls/candy_guard.json (2025-01-29)
  Guard1JwRhJkVH6XZhzoYxeBVQe872VH6QggF4BWmS9g: `
afaf6d1f0d989bed initialize -
3339e12fb69289a6 mint NFT_MINT user=4 mint=6
78791792ad6ec7cd mint_v2 NFT_MINT user=4 owner=5 mint=6
e517cb977ae3ad2a route -
85fa25156ea31a79 set_authority -
7eafc60ed445322c unwrap -
dbc858b09e3ffd7f update -
b712469c946da122 withdraw -
b2280abde481ba8c wrap -
`,
  // https://github.com/metaplex-foundation/mpl-core-candy-machine/blob/fba8184295/idls/candy_machine_core.json (2025-02-01)
  CMACYFENjoBMHzapRXyo1JZkVS6EtaDDzkjMrmQLvr4J: `
df32e0e39708736a add_config_lines -
afaf6d1f0d989bed initialize -
54afd39c38fa6876 mint_asset NFT_MINT user=3 mint=5
85fa25156ea31a79 set_authority -
c0fece4ca8b63bdf set_collection -
437f9bbb64ae6779 set_mint_authority -
dbc858b09e3ffd7f update -
b712469c946da122 withdraw -
`,
  // https://github.com/metaplex-foundation/mpl-core-candy-machine/blob/fba8184295/idls/candy_guard.json (2025-02-01)
  CMAGAKJ67e9hRZgfC5SFTbZH8MgEmtqazKXjmkaJjWTJ: `
afaf6d1f0d989bed initialize -
9162c076b8937668 mint_v1 NFT_MINT user=4 owner=6 mint=7
e517cb977ae3ad2a route -
85fa25156ea31a79 set_authority -
7eafc60ed445322c unwrap -
dbc858b09e3ffd7f update -
b712469c946da122 withdraw -
b2280abde481ba8c wrap -
`,
  // https://github.com/solana-labs/solana-program-library/blob/264ca72de0/account-compression/sdk/idl/spl_account_compression.json (2025-03-10)
  cmtDvXumGCrqC1Age74AVPhSRVXJMd8PJS91L8KbNCK: `
bf0b7707b46bdc6e init_empty_merkle_tree -
e67c78c4f986c780 prepare_batch_merkle_tree -
8b9beea70bf384cd append_canopy_nodes -
daf8c0375bcd7a0a init_prepared_tree_with_root -
cca54c6449930080 replace_leaf -
30a94c48e5b437a1 transfer_authority -
7cdc16df680afae0 verify_leaf -
957812deece158cb append -
062a32be336db2a8 insert_or_append -
320edb6b4e671067 close_empty_tree -
`,
  // https://github.com/pyth-network/pyth-crosschain/blob/7c915eb10e/target_chains/solana/sdk/js/pyth_solana_receiver/src/idl/pyth_solana_receiver.json (2026-07-23)
  'rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ rec2HHDDnjLfj4kE7VyEtFA1HPGQLK33259532cRyHp': `
afaf6d1f0d989bed initialize ORACLE_UPDATE
5c12439c1b97b7e0 request_governance_authority_transfer ORACLE_UPDATE
275d4689895af89a cancel_governance_authority_transfer ORACLE_UPDATE
fe27de4f40d9cd7f accept_governance_authority_transfer ORACLE_UPDATE
6b490f77c3745bd2 set_data_sources ORACLE_UPDATE
129a1812edd61350 set_fee ORACLE_UPDATE
9aaefc9d5bd7b39c set_wormhole_address ORACLE_UPDATE
05d2ce7c2b446895 set_minimum_signatures ORACLE_UPDATE
31ac54c0afb434ea post_update_atomic ORACLE_UPDATE
855fcfaf0b4f762c post_update ORACLE_UPDATE
e8b0d4694579121e post_twap_update ORACLE_UPDATE
dac813c5e359c016 reclaim_rent ORACLE_UPDATE
540320ee6cd98727 reclaim_twap_rent ORACLE_UPDATE
`,
  // https://github.com/drift-labs/protocol-v2/blob/0ae3e3b1db/sdk/src/idl/switchboard_on_demand_30.json (2026-04-01)
  SBondMDrcV3K4kxZR1HNVT7osZxAHVHgYXL5Ze1oMUv: `
a8245d9c9d96942d guardian_quote_verify ORACLE_UPDATE
9f4c3575db1d7487 guardian_register ORACLE_UPDATE
d7133d789be0783c guardian_unregister ORACLE_UPDATE
0aafd9826f237536 oracle_heartbeat ORACLE_UPDATE
7ae74220e23e9067 oracle_heartbeat_v2 ORACLE_UPDATE
159e42413cdd943d oracle_init ORACLE_UPDATE
6a142475a6af8353 oracle_init_svm ORACLE_UPDATE
93f46cc698db0016 oracle_reset_lut ORACLE_UPDATE
816fdf04bfbc46b4 oracle_set_configs ORACLE_UPDATE
d2e89b7c45b0f285 oracle_set_operator ORACLE_UPDATE
8a630c3b12aaab2d oracle_sync_lut ORACLE_UPDATE
d37ab97881b63767 permission_set ORACLE_UPDATE
1386328eb1d7c453 pull_feed_close ORACLE_UPDATE
c68235c6eb3d8f28 pull_feed_init ORACLE_UPDATE
d92d0bf6401a52a8 pull_feed_set_configs ORACLE_UPDATE
9616d7a68f5d3089 pull_feed_submit_response ORACLE_UPDATE
ef7c27b893de10f8 pull_feed_submit_response_consensus ORACLE_UPDATE
b2b35890af829d57 pull_feed_submit_response_consensus_light ORACLE_UPDATE
2f9c2d19c84725d7 pull_feed_submit_response_many ORACLE_UPDATE
7b07be0cdce6c694 pull_feed_submit_response_svm ORACLE_UPDATE
c7ff51323c85ab8a queue_add_mr_enclave ORACLE_UPDATE
5ecb529dbc8aca6c queue_allow_subsidies ORACLE_UPDATE
bbd068f7105b6062 queue_garbage_collect ORACLE_UPDATE
90126391851bcf0d queue_init ORACLE_UPDATE
af5e77972d90adeb queue_init_svm ORACLE_UPDATE
2b670f23590ef4a5 queue_override_svm ORACLE_UPDATE
555433fb903969c8 queue_pay_subsidy ORACLE_UPDATE
03408721be8544fc queue_remove_mr_enclave ORACLE_UPDATE
e8ff306ff0a8fd28 queue_reset_vault ORACLE_UPDATE
36b7f3c731678e30 queue_set_configs ORACLE_UPDATE
e8dfb30c1488b5db queue_set_ncn ORACLE_UPDATE
302f6663f1f9c4f6 queue_set_vault ORACLE_UPDATE
34aa98c9b385f28d randomness_commit ORACLE_UPDATE
0909cc213274710f randomness_init ORACLE_UPDATE
c5b5bb0a1e3a1449 randomness_reveal ORACLE_UPDATE
67f16abed9995769 state_init ORACLE_UPDATE
28624c25ce092f90 state_set_configs ORACLE_UPDATE
af30a2fc9ac595bb test_update_oracle_stats ORACLE_UPDATE
`,
  // https://github.com/Kamino-Finance/klend-sdk/blob/cf46535690/src/idl/switchboard_v2.json (2026-03-13)
  'SW1TCH7qEPTdLsDHRgPuMQjbQxKdH2aBStViMFnt64f 2TfB33aLaneQb5TNVwyDz3jSZXS6jdW2ARw1Dgf84XCG': `
841e2333738eba0a aggregator_add_job ORACLE_UPDATE
c829580b2415b56e aggregator_init ORACLE_UPDATE
e4ee433545b0b9e3 aggregator_lock ORACLE_UPDATE
ef45e5b39cf676bf aggregator_open_round ORACLE_UPDATE
9edde74129979bac aggregator_remove_job ORACLE_UPDATE
154305004aa833c0 aggregator_save_result ORACLE_UPDATE
2103bc34b9de0004 aggregator_save_result_v2 ORACLE_UPDATE
8cb003ad17020451 aggregator_set_authority ORACLE_UPDATE
ec4da211c043e0d9 aggregator_set_config ORACLE_UPDATE
c2f8b361ed18096e aggregator_set_resolution_mode ORACLE_UPDATE
5831d6f2e52cab34 aggregator_set_history_buffer ORACLE_UPDATE
6f988e99ce271694 aggregator_set_queue ORACLE_UPDATE
7fcd3b97042fa452 buffer_relayer_init ORACLE_UPDATE
c02ae7bd23ac3309 buffer_relayer_open_round ORACLE_UPDATE
fdaaa4549b70012e buffer_relayer_save_result ORACLE_UPDATE
39b35e88524f19b9 crank_init ORACLE_UPDATE
4239d8fba56b8062 crank_pop ORACLE_UPDATE
997ab197f056f0d5 crank_pop_v2 ORACLE_UPDATE
9bafa0120793f910 crank_push ORACLE_UPDATE
655669c022c9939f job_init ORACLE_UPDATE
e1cf451ba1abdf68 job_set_data ORACLE_UPDATE
ca468d1d888ee676 lease_extend ORACLE_UPDATE
a8be9dfc9fe2f159 lease_init ORACLE_UPDATE
ff045802d5af5716 lease_set_authority ORACLE_UPDATE
ba2964f8ea513da9 lease_withdraw ORACLE_UPDATE
0aafd9826f237536 oracle_heartbeat ORACLE_UPDATE
159e42413cdd943d oracle_init ORACLE_UPDATE
fae2e76f9ea41b88 oracle_queue_init ORACLE_UPDATE
ef57d83077de53dc oracle_queue_set_config ORACLE_UPDATE
2b04c88460967c30 oracle_withdraw ORACLE_UPDATE
b174c9e910020bb3 permission_init ORACLE_UPDATE
d37ab97881b63767 permission_set ORACLE_UPDATE
3e7b1496386dd191 program_config ORACLE_UPDATE
c7d1c1d58a1eaf0d program_init ORACLE_UPDATE
d37d03692d21e3d6 vault_transfer ORACLE_UPDATE
f14c5ceae6f0a400 vrf_init ORACLE_UPDATE
61ac7c10af0af693 vrf_close_action ORACLE_UPDATE
c852a0203b503289 vrf_lite_close_action ORACLE_UPDATE
90289321ee5c582e vrf_lite_init ORACLE_UPDATE
bf44d1980a5ea50b vrf_lite_prove_and_verify ORACLE_UPDATE
dd0ba72f506b1247 vrf_lite_request_randomness ORACLE_UPDATE
d50a1b51839821c3 vrf_pool_init ORACLE_UPDATE
0f49567c4bb714c7 vrf_pool_remove ORACLE_UPDATE
ea8f3de6d43908ea vrf_pool_add ORACLE_UPDATE
4331b6ffdea174ee vrf_pool_request ORACLE_UPDATE
85beba30d0a4cd22 vrf_prove_and_verify ORACLE_UPDATE
e6790ea41cde7576 vrf_request_randomness ORACLE_UPDATE
79a7a8bfb4f7fb4e vrf_set_callback ORACLE_UPDATE
`,
  // https://github.com/pyth-network/pyth-client/blob/25dd347ee2/program/rust/src/instruction.rs (2025-01-10)
  'gSbePebfvPy7tRqimPoVecS2UsBvYv46ynrzWocc92s FsJ3A3u2vn5cTVofAjvy6y5kwABJAqYWpe4975bi2epH': `
0200000000000000 init_mapping ORACLE_UPDATE
0200000001000000 add_mapping ORACLE_UPDATE
0200000002000000 add_product ORACLE_UPDATE
0200000003000000 upd_product ORACLE_UPDATE
0200000004000000 add_price ORACLE_UPDATE
0200000005000000 add_publisher ORACLE_UPDATE
0200000006000000 del_publisher ORACLE_UPDATE
0200000007000000 upd_price ORACLE_UPDATE
0200000008000000 agg_price ORACLE_UPDATE
0200000009000000 init_price ORACLE_UPDATE
020000000a000000 init_test ORACLE_UPDATE
020000000b000000 upd_test ORACLE_UPDATE
020000000c000000 set_min_pub ORACLE_UPDATE
020000000d000000 upd_price_no_fail_on_error ORACLE_UPDATE
020000000e000000 resize_price_account ORACLE_UPDATE
020000000f000000 del_price ORACLE_UPDATE
0200000010000000 del_product ORACLE_UPDATE
0200000011000000 upd_permissions ORACLE_UPDATE
0200000012000000 set_max_latency ORACLE_UPDATE
0200000013000000 init_price_feed_index ORACLE_UPDATE
0200000014000000 resize_mapping ORACLE_UPDATE
`,
  // https://github.com/smartcontractkit/chainlink-solana/blob/ee601d69ec/contracts/programs/store/src/lib.rs (2024-10-24)
  HEvSKofvBgfaexv23kMabbYqxasxU3mQ4ibBMEmJWHny: `
ad565f5e0dc143b4 create_feed ORACLE_UPDATE
990e5c59134ed32e close_feed ORACLE_UPDATE
b53afb2593b446e3 transfer_feed_ownership -
d3a1567165aff588 accept_feed_ownership -
57f8e0c1112950fa set_validator_config -
ae24b17a568e206d set_writer -
fd4ff0a3247c9d6f lower_flag -
58a666b5a27faa30 submit ORACLE_UPDATE
afaf6d1f0d989bed initialize -
27fb829f2e88a4a9 query -
`,
  // https://github.com/Ellipsis-Labs/phoenix-v1/blob/dac82fef2b/idl/phoenix_v1.json (2024-03-18)
  PhoeNiXZ8ByJGLkxNfZRnkUfjvmuYqLR89jjFHGqdXY: `
00 swap SWAP user=3 pool=2
01 swap_with_free_funds SWAP user=3 pool=2
02 place_limit_order PLACE_ORDER owner=3 pool=2
03 place_limit_order_with_free_funds PLACE_ORDER owner=3 pool=2
04 reduce_order CANCEL_ORDER owner=3
05 reduce_order_with_free_funds CANCEL_ORDER owner=3
06 cancel_all_orders CANCEL_ORDER owner=3
07 cancel_all_orders_with_free_funds CANCEL_ORDER owner=3
08 cancel_up_to CANCEL_ORDER owner=3
09 cancel_up_to_with_free_funds CANCEL_ORDER owner=3
0a cancel_multiple_orders_by_id CANCEL_ORDER owner=3
0b cancel_multiple_orders_by_id_with_free_funds CANCEL_ORDER owner=3
0c withdraw_funds WITHDRAW user=3 pool=2 vault=7
0d deposit_funds DEPOSIT user=3 pool=2 vault=8
0e request_seat -
0f log -
10 place_multiple_post_only_orders PLACE_ORDER owner=3 pool=2
11 place_multiple_post_only_orders_with_free_funds PLACE_ORDER owner=3 pool=2
64 initialize_market -
65 claim_authority -
66 name_successor -
67 change_market_status -
68 change_seat_status -
69 request_seat_authorized -
6a evict_seat -
6b force_cancel_orders CANCEL_ORDER owner=4
6c collect_fees -
6d change_fee_recipient -
`,
  // https://github.com/CKS-Systems/manifest/blob/95ee542e3f/client/idl/manifest.json (2026-01-30)
  MNFSTqtC93rEfYHB6hF82sKdZpUDFWkViLByLd1k1Ms: `
00 create_market -
01 claim_seat -
02 deposit DEPOSIT user=0 pool=1 vault=3 mint=5
03 withdraw WITHDRAW user=0 pool=1 vault=3 mint=5
04 swap SWAP user=0 pool=1
05 expand -
06 batch_update PLACE_ORDER pool=1
07 global_create -
08 global_add_trader -
09 global_deposit DEPOSIT user=0 mint=2
0a global_withdraw WITHDRAW user=0 mint=2
0b global_evict -
0c global_clean -
0d swap_v2 SWAP user=1 pool=2
`,
  // https://github.com/openbook-dex/openbook-v2/blob/f3e17421e6/idl/openbook_v2.json (2024-06-24)
  opnb2LAfJYbRMAHHvqjCwQxanZn7ReEHp1k81EohpZb: `
67e261ebc8bcfbfe create_market -
589af8ba300e7bf4 close_market -
404099ffd947f985 create_open_orders_indexer -
67f9e5e7f7fdc588 close_open_orders_indexer -
ccb5afde287dbc47 create_open_orders_account -
b04a73d236b35b67 close_open_orders_account -
33c29baf6d82606a place_order PLACE_ORDER owner=0 pool=4
fed0761dadf8c846 edit_order PLACE_ORDER owner=0 pool=4
3ebb7d451add9d85 edit_order_pegged PLACE_ORDER owner=0 pool=4
3c3f327b0cc53cbe place_orders PLACE_ORDER owner=0 pool=5
809bde3cba28e132 cancel_all_and_place_orders PLACE_ORDER owner=0 pool=5
8db9fb3f4a55d291 place_order_pegged PLACE_ORDER owner=0 pool=4
032c47031ac7cb55 place_take_order SWAP user=0 pool=2
dd91b1341f2f3fc9 consume_events INFRA
d1e336046dac2947 consume_given_events INFRA
5f81edf00831df84 cancel_order CANCEL_ORDER owner=0
73b2c908afb77b77 cancel_order_by_client_order_id CANCEL_ORDER owner=0
c453f3ab1164a08f cancel_all_orders CANCEL_ORDER owner=0
f223c68952e1f2b6 deposit DEPOSIT user=0 pool=4
80cf8e0b36e826c9 refill -
ee40a3604bab1021 settle_funds WITHDRAW user=0 pool=3
6b123845e43837a4 settle_funds_expired WITHDRAW user=1 pool=4
afe1624776422294 sweep_fees -
f21e2e4c6ceb80b5 set_delegate -
db52dbec3c73c540 set_market_expired -
1bd59fbf0c747079 prune_orders CANCEL_ORDER
ac3f65538d4cc7d8 stub_oracle_create -
5c892d032d3c75e0 stub_oracle_close -
6dc64f7941caa18e stub_oracle_set -
`,
  // https://github.com/openbook-dex/program/blob/c85e56deea/dex/src/instruction.rs (2023-01-05)
  'srmqPvymJeFKQ4zGQed1GFppgkRHL9kaELCbyksJtPX 9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin': `
0000000000 initialize_market -
0001000000 new_order PLACE_ORDER owner=4 pool=0
0002000000 match_orders INFRA
0003000000 consume_events INFRA
0004000000 cancel_order CANCEL_ORDER owner=3 pool=0
0005000000 settle_funds WITHDRAW user=2 pool=0
0006000000 cancel_order_by_client_id CANCEL_ORDER owner=3 pool=0
0007000000 disable_market -
0008000000 sweep_fees -
0009000000 new_order_v2 PLACE_ORDER owner=4 pool=0
000a000000 new_order_v3 PLACE_ORDER owner=7 pool=0
000b000000 cancel_order_v2 CANCEL_ORDER owner=4 pool=0
000c000000 cancel_order_by_client_id_v2 CANCEL_ORDER owner=4 pool=0
000d000000 send_take SWAP user=7 pool=0
000e000000 close_open_orders -
000f000000 init_open_orders -
0010000000 prune CANCEL_ORDER owner=5 pool=0
0011000000 consume_events_permissioned INFRA
0012000000 cancel_orders_by_client_ids CANCEL_ORDER owner=4 pool=0
0013000000 replace_order_by_client_id PLACE_ORDER owner=7 pool=0
0014000000 replace_orders_by_client_ids PLACE_ORDER owner=7 pool=0
`,
  // https://github.com/drift-labs/protocol-v2/blob/0ae3e3b1db/sdk/src/idl/drift.json (2026-04-01)
  dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH: `
6f11b9fa3c7a26fe initialize_user PERPS user=3
fef34862fb82a8d5 initialize_user_stats PERPS user=2
a4639c7e9c3963b4 initialize_signed_msg_user_orders PERPS user=1
890a579612734fa8 resize_signed_msg_user_orders PERPS user=1
288460dbb8c15008 initialize_signed_msg_ws_delegates PERPS user=1
fccafcdbb31b548a change_signed_msg_ws_delegate_status PERPS user=1
58df84a1d0588e2a initialize_fuel_overflow PERPS user=2
af6b1338a5f12b45 sweep_fuel PERPS user=2
c77ac0ff20633fc8 reset_fuel_season PERPS user=1
eb7ee70a2aa41a3d initialize_referrer_name PERPS user=3
f223c68952e1f2b6 deposit DEPOSIT user=3 vault=4
b712469c946da122 withdraw WITHDRAW user=3 vault=4
141493df293fcc6f transfer_deposit PERPS user=3
c5679a196b5a3c5e transfer_pools PERPS user=3
17acbca886d2036c transfer_perp_position PERPS user=3
6530ff997f79aa1a deposit_into_isolated_perp_position DEPOSIT user=3 vault=4
c983f2e455e246ed transfer_isolated_perp_position_deposit PERPS user=2
255cb2958c4c9f87 withdraw_from_isolated_perp_position WITHDRAW user=3 vault=4
45a15dca787e4cb9 place_perp_order PLACE_ORDER owner=2
5f81edf00831df84 cancel_order CANCEL_ORDER owner=2
6bd3fa8512253964 cancel_order_by_user_id CANCEL_ORDER owner=2
eee15f9ee36708c2 cancel_orders CANCEL_ORDER owner=2
861390a55ef0d25e cancel_orders_by_ids CANCEL_ORDER owner=2
2f7c75ffc9c5825e modify_order PERPS user=2
9e4d04fdfcc2a1b3 modify_order_by_user_id PERPS user=2
d53301bb6cdce6e0 place_and_take_perp_order PLACE_ORDER owner=3
95750bed2f5f59ed place_and_make_perp_order PLACE_ORDER owner=5
101a7b835e1daf62 place_and_make_signed_msg_perp_order PLACE_ORDER owner=6
204f658b1906620f place_signed_msg_taker_order PLACE_ORDER owner=4
2d4f51a0f85a5bdc place_spot_order PLACE_ORDER owner=2
bf038a4772c6ca64 place_and_take_spot_order PLACE_ORDER owner=3
959e5542ef09f362 place_and_make_spot_order PLACE_ORDER owner=5
3c3f327b0cc53cbe place_orders PLACE_ORDER owner=2
81f94637b1fafc5e place_scale_orders PLACE_ORDER owner=2
ae6de401f269e869 begin_swap PERPS user=3
b1b81bc1220dd291 end_swap PERPS user=3
8719b938a5352288 update_user_name PERPS user=1
15dd8cbb20810b7b update_user_custom_margin_ratio PERPS user=1
79899d9b59ba9171 update_user_perp_position_custom_margin_ratio PERPS user=1
c25cccdff6bc1fcb update_user_margin_trading_enabled PERPS user=1
db56496a38da806d update_user_pool_id PERPS user=1
8bcd8d8d71245ebb update_user_delegate PERPS user=1
c7472a439013566d update_user_reduce_only PERPS user=1
72277bc6bb195adb update_user_protected_maker_orders PERPS user=2
ba5511f9dbe762fb delete_user PERPS user=3
02f1c3ace318fe9e force_delete_user PERPS user=3
ddf780fdd4fe2e99 delete_signed_msg_user_orders PERPS user=2
dac813c5e359c016 reclaim_rent PERPS user=3
e718e670c9ad49b8 enable_user_high_leverage_mode PERPS user=2
0dbcf86786d96af0 fill_perp_order FILL_ORDER keeper=1
eceeb045ef0ab5c1 revert_fill FILL_ORDER keeper=1
d4ce82ad1522c728 fill_spot_order FILL_ORDER keeper=1
3f7033e9e82ff0c7 trigger_order PERPS user=1
40b5c43fde4840e8 force_cancel_orders CANCEL_ORDER keeper=1
fd85431667a11464 update_user_idle PERPS user=1
a21523fb2039a1d2 log_user_balances PERPS user=1
b79b2d00e255d545 disable_user_high_leverage_mode PERPS user=1
ae9a482abf9491cd update_user_stats_referrer_status PERPS user=1
b7683f96f0c7030a admin_update_user_stats_paused_operations PERPS
2b3dea2d0f5f9899 settle_pnl PERPS user=2
7f4275392832987f settle_multiple_pnls PERPS user=2
de5aca5e1c2d73b7 settle_funding_payment PERPS
78590b197a4d48c1 settle_expired_market PERPS
4b2377f7bf128b02 liquidate_perp LIQUIDATE user=1
5f6f7c6956a9bb22 liquidate_perp_with_fill LIQUIDATE user=1
6b00802923e5fb12 liquidate_spot LIQUIDATE user=1
0c2bb0539cfb750d liquidate_spot_with_swap_begin LIQUIDATE user=1
8e58a3a0df4b37e1 liquidate_spot_with_swap_end LIQUIDATE user=1
a911205acf94d11b liquidate_borrow_for_perp_pnl LIQUIDATE user=1
ed4bc6ebe9ba4b23 liquidate_perp_pnl_for_deposit LIQUIDATE user=1
6a85a0cec1abc0c2 set_user_status_to_being_liquidated PERPS user=2
a8cc44969f7e5f94 resolve_perp_pnl_deficit PERPS user=1
e010b0d6a2d5b7de resolve_perp_bankruptcy PERPS user=1
7cc2f0fec6d5347a resolve_spot_bankruptcy PERPS user=1
c8785d884526c79f settle_revenue_to_insurance_fund PERPS
c9b274d4a69048ee update_funding_rate PERPS
dc841b1be9dc3ddb update_prelaunch_oracle ORACLE_UPDATE
f717ff41d45addc2 update_perp_bid_ask_twap PERPS user=4
27a68bf39ea59be1 update_spot_market_cumulative_interest PERPS
c96ad9fd04afe461 update_amms PERPS user=1
d00bd39fe2180bf7 update_spot_market_expiry PERPS
fb659c07023f1e17 update_user_quote_asset_insurance_stake PERPS user=4
8f63ebbb149fb854 update_user_gov_token_insurance_stake PERPS user=4
f11dd7e48e7416a0 update_delegate_user_gov_token_insurance_stake PERPS
bbb3f346f85a5c93 initialize_insurance_fund_stake PERPS user=4
fb90730bde2f3eec add_insurance_fund_stake DEPOSIT user=4 vault=5
8e46cc5c496ab434 request_remove_insurance_fund_stake PERPS user=3
61eb4e3ed42af17f cancel_request_remove_insurance_fund_stake PERPS user=3
80a68e09febb8fae remove_insurance_fund_stake WITHDRAW user=4
b0458fcd2084a300 begin_insurance_fund_swap PERPS user=1
cee66208f99ea9a7 end_insurance_fund_swap PERPS user=1
ec88939992cd681d transfer_protocol_if_shares_to_revenue_pool PERPS user=1
e4d0bff6a93abdd5 admin_withdraw_from_insurance_fund_vault PERPS user=1
0416e2c97c2c52e6 deposit_into_insurance_fund_stake DEPOSIT user=0 vault=5
e6bfbd5e6c3b4ac5 update_pyth_pull_oracle ORACLE_UPDATE
747a899ee0c3ad77 post_pyth_pull_oracle_update_atomic ORACLE_UPDATE
f34fcce4e3d064f4 post_multi_pyth_pull_oracle_updates_atomic ORACLE_UPDATE
b7773baa8923f256 pause_spot_market_deposit_withdraw PERPS
afaf6d1f0d989bed initialize PERPS
eac4802c5e0f30c9 initialize_spot_market PERPS
1f8c43bfbd1465dd delete_initialized_spot_market PERPS
c1d384ac46ab075e initialize_serum_fulfillment_config PERPS
ab6df0fb5f019559 update_serum_fulfillment_config_status PERPS
1e8f5830f9679aff delete_serum_fulfillment_config PERPS
07dd67996b391bc5 initialize_openbook_v2_fulfillment_config PERPS
19ad13bd04d340ee openbook_v2_fulfillment_config_status PERPS
12c68a8e8a304fbb delete_openbook_v2_fulfillment_config PERPS
87846e6bb9a0a99a initialize_phoenix_fulfillment_config PERPS
601f71200ccb079a phoenix_fulfillment_config_status PERPS
8409e5767576753e initialize_perp_market PERPS
263cab9ecb3a8908 initialize_amm_cache PERPS
7095c3de7c0757ed add_market_to_amm_cache PERPS
d882d7cee9e8bf58 delete_amm_cache PERPS
9dd26d43d4aa0c6b update_initial_amm_cache_info PERPS
f846c6e0e0697dc3 initialize_prediction_market PERPS
5b9a18576a3bbe42 delete_initialized_perp_market PERPS
eb6d0252db76069f move_amm_price PERPS
18570a73a5be508b recenter_perp_market_amm PERPS
a613400a0e33657a recenter_perp_market_amm_crank PERPS
7a65f9eed109f1f5 update_perp_market_amm_summary_stats PERPS
2cdde397838c166e update_perp_market_expiry PERPS
b55e5d9233592087 update_perp_market_lp_pool_paused_operations PERPS
4306fc3d365859e9 update_perp_market_lp_pool_status PERPS
5ee4ed6d64b90451 update_perp_market_lp_pool_fee_transfer_scalar PERPS
3713eea9e35ac8b8 settle_expired_market_pools_to_revenue_pool PERPS
223a39446150f406 deposit_into_perp_market_fee_pool DEPOSIT pool=1 vault=6
32caf9e0a6b80d8f update_perp_market_pnl_pool PERPS
30fc7749ffcdaef7 deposit_into_spot_market_vault DEPOSIT vault=4
5c28972a7afe8bf6 deposit_into_spot_market_revenue_pool DEPOSIT user=2 vault=3
03246659b48078d5 repeg_amm_curve PERPS
f14a727bce9918ca update_perp_market_amm_oracle_twap PERPS
7f0a37a47be22f18 reset_perp_market_amm_oracle_twap PERPS
4862098b81e5ac38 update_k PERPS
82ad6b2d77691a71 update_perp_market_margin_ratio PERPS
5870563118744a9d update_perp_market_high_leverage_margin_ratio PERPS
aba1455b818ba11c update_perp_market_funding_period PERPS
0fce49853c085659 update_perp_market_max_imbalances PERPS
5a89099129089475 update_perp_market_liquidation_fee PERPS
77d09a58a55c15bc update_perp_market_lp_pool_id PERPS
2c452be2ccdfca34 update_insurance_fund_unstaking_period PERPS
16d5c5a08bc15195 update_spot_market_pool_id PERPS
0b0dff35388868b1 update_spot_market_liquidation_fee PERPS
3812273d9bd32c85 update_withdraw_guard_threshold PERPS
931ee02212e66904 update_spot_market_if_factor PERPS
515c7e29fae19cdb update_spot_market_revenue_settle_period PERPS
4e5e10bcc16ee71f update_spot_market_status PERPS
643d9951b40c06f8 update_spot_market_paused_operations PERPS
fdd1e70ef2d0f382 update_spot_market_asset_tier PERPS
6d2157c3ff240651 update_spot_market_margin_weights PERPS
47efec99d23efe4c update_spot_market_borrow_rate PERPS
38bf4f121a7950d0 update_spot_market_max_token_deposits PERPS
3966ccd4fd5f0dc7 update_spot_market_max_token_borrows PERPS
d9cccc76cc82e193 update_spot_market_scale_initial_asset_weight_start PERPS
72b86625f6bab463 update_spot_market_oracle PERPS
ee998950ce3bfa3d update_spot_market_step_size_and_tick_size PERPS
5d800b771a14b532 update_spot_market_min_order_size PERPS
be4fce0f1ae5e52b update_spot_market_orders_enabled PERPS
65d74f4a3b294f0c update_spot_market_if_paused_operations PERPS
11d00101a2d3bce0 update_spot_market_name PERPS
47c9af7affcfc4cf update_perp_market_status PERPS
351088841edc7955 update_perp_market_paused_operations PERPS
ec800f5fcbd64475 update_perp_market_contract_tier PERPS
cfc23884234347f4 update_perp_market_imf_factor PERPS
8784cda56d96a66a update_perp_market_unrealized_asset_weight PERPS
184ee87ea9b0e610 update_perp_market_concentration_coef PERPS
3283069ce2e7bd48 update_perp_market_curve_update_intensity PERPS
d649a60bda4c6ea3 update_perp_market_reference_price_offset_deadband_pct PERPS
17b26fcb49168c4b update_perp_fee_structure PERPS
61d8698371f68e8d update_spot_fee_structure PERPS
d285e180c2320d6d update_initial_pct_to_liquidate PERPS
1c9a14f966c04947 update_liquidation_duration PERPS
84e0f3a09a5261d7 update_liquidation_margin_buffer_ratio PERPS
83700a3b203628a4 update_oracle_guard_rails PERPS
6144c7eb83503dad update_state_settlement_duration PERPS
9b7bd602dda6cc55 update_state_max_number_of_sub_accounts PERPS
ede119edc12d4d61 update_state_max_initialize_user_fee PERPS
b6716fa043ae59bf update_perp_market_oracle PERPS
475f54a8099dc641 update_perp_market_base_spread PERPS
b5bf356da6f9378e update_amm_jit_intensity PERPS
50fc7a3e28da5b64 update_perp_market_max_spread PERPS
e7ff6119928bae04 update_perp_market_step_size_and_tick_size PERPS
d31f15d2406c42c9 update_perp_market_name PERPS
e24a05596cdf2e8d update_perp_market_min_order_size PERPS
eb2528c4469236c9 update_perp_market_max_slippage_ratio PERPS
13ac729a2a87a185 update_perp_market_max_fill_reserve_fraction PERPS
c24f95e0f666ba8c update_perp_market_max_open_interest PERPS
233e90b1b43ed7c4 update_perp_market_number_of_users PERPS
c2ae57662b942070 update_perp_market_fee_adjustment PERPS
94b6037e9d72dc63 update_spot_market_fee_adjustment PERPS
f9d57322fdef4bad update_perp_market_protected_maker_params PERPS
7c6c93e56d757b03 update_perp_market_oracle_low_risk_slot_delay_override PERPS
9bc3952bdc52adcd update_perp_market_amm_spread_adjustment PERPS
a55befe33face308 update_perp_market_oracle_slot_delay_override PERPS
a1b028d53cb8b3e4 update_admin PERPS
20fc7ad3421f2ff1 update_discount_mint PERPS
53a0fcfa817431df update_exchange_status PERPS
7e6e34ae1eced75a update_perp_auction_duration PERPS
b6b2cb48bb8f9d6b update_spot_auction_duration PERPS
a9b25419af3e1df7 initialize_prelaunch_oracle PERPS
62cd93f3124b53cf update_prelaunch_oracle_params PERPS
3ba964314511adfd delete_prelaunch_oracle PERPS
f98cfdf3f84af0ee initialize_pyth_pull_oracle PERPS
8c6b21d6ebdb6714 initialize_pyth_lazer_oracle PERPS
daedaaf5278fa621 post_pyth_lazer_oracle_update ORACLE_UPDATE
d5a75df6d0825af8 initialize_high_leverage_mode_config PERPS
407ad45d8dd9ca37 update_high_leverage_mode_config PERPS
4367dc435820fc08 initialize_protected_maker_mode_config PERPS
56a6ebfd43cadf11 update_protected_maker_mode_config PERPS
d24241b666d6b01e admin_deposit PERPS
0855b8a7b03dade2 initialize_if_rebalance_config PERPS
8ef5f942f9b51653 update_if_rebalance_config PERPS
da8621bae73b8295 update_feature_bit_flags_mm_oracle PERPS
c0e227cccf7894fa zero_mm_oracle_fields PERPS
40b9dd2d57930c13 update_feature_bit_flags_median_trigger_price PERPS
0180b133ad2d0b66 update_feature_bit_flags_builder_codes PERPS
39097b835234320d initialize_revenue_share PERPS user=1
bb127b58ee68549a initialize_revenue_share_escrow PERPS user=1
207cf7e197d5e126 resize_revenue_share_escrow_orders PERPS user=1
b386d32dc305bdad change_approved_builder PERPS user=1
f24001de8e2ecce3 initialize_lp_pool PERPS
ba1c4ee69b53f21a update_feature_bit_flags_settle_lp_pool PERPS
5310960c6603163a update_feature_bit_flags_swap_lp_pool PERPS
1a0b8e7ace9f092d update_feature_bit_flags_mint_redeem_lp_pool PERPS
0cc42dda5d590021 initialize_constituent PERPS
4c9fd3efb6d6060f update_constituent_status PERPS
b97a99bf83b184d0 update_constituent_paused_operations PERPS
ee827a1f0c68c07a update_constituent_params PERPS
d95c02ff1ba7b251 update_lp_pool_params PERPS
a4ec822876b32eeb add_amm_constituent_mapping_data PERPS
544621a7856b3b18 update_amm_constituent_mapping_data PERPS
14b7d3a21034e573 remove_amm_constituent_mapping_data PERPS
4f0e1349dd6a3e6d update_constituent_correlation_data PERPS
9d4132cf3beca16e update_lp_constituent_target_base PERPS
587189cef6f7ab8e update_lp_pool_aum PERPS
58043f5e53e0ff82 update_amm_cache PERPS
bdc680093191c973 override_amm_cache_info PERPS
24a12731e30123e2 lp_pool_swap PERPS user=12
7ebd6dbdaa9c032e view_lp_pool_swap_fees PERPS user=9
3187f6675d92dc8d lp_pool_add_liquidity PERPS user=2
a424c1fcc49d8a2b lp_pool_remove_liquidity PERPS user=3
5042e2a1468e7754 view_lp_pool_add_liquidity_fees PERPS user=2
2f0c09660ce2c559 view_lp_pool_remove_liquidity_fees PERPS user=2
402c18c7307d435b begin_lp_swap PERPS
637dd6a581affd87 end_lp_swap PERPS
c675e7fa93217fa1 update_constituent_oracle_info PERPS
ebab795039ef93dc deposit_to_program_vault DEPOSIT vault=5 mint=7
7828b795e812e097 withdraw_from_program_vault WITHDRAW vault=6 mint=8
05622ebc0a3b02f9 settle_perp_to_lp_pool PERPS
865a062250a05ef5 update_perp_market_config PERPS
ffffffff00 update_mm_oracle_native ORACLE_UPDATE
ffffffff01 update_amm_spread_adjustment_native PERPS
`,
  // https://github.com/drift-labs/drift-vaults/blob/a2208c6b2b/ts/sdk/src/idl/drift_vaults.json (2026-04-27)
  vAuLTsyrvSfZRuRB3XgvkPwNGgYSs9YRYymVebLKoxR: `
30bfa32c47813fa4 initialize_vault -
b002f84274523470 initialize_vault_with_protocol -
beca678aa7c51909 update_delegate -
f422e58c5b41c843 update_margin_trading_enabled -
db56496a38da806d update_user_pool_id -
cdf875bf23fcac85 update_vault_protocol -
43e5b9bce20bd23c update_vault -
f650a2cfe41c85aa update_vault_manager -
5a47dbe90c51d30b update_cumulative_fuel_amount -
70aea2e8595ccda8 initialize_vault_depositor -
32b7ef153b9633e3 initialize_tokenized_vault_depositor -
a6040ee315a1797a tokenize_shares -
f662862998217845 redeem_tokens -
f223c68952e1f2b6 deposit DEPOSIT user=2 vault=0
895fbb60fa8a1fb6 request_withdraw -
1a6d0151660f066a cancel_request_withdraw -
b712469c946da122 withdraw WITHDRAW user=2 vault=0
dfb3e27d302e274a liquidate -
cc0d3d9961539262 reset_delegate -
c77ac0ff20633fc8 reset_fuel_season -
be6b0db00a6686a8 reset_vault_fuel_season -
b0ed53bd66490e99 manager_borrow -
ca38320301285d80 manager_repay -
c1b7d2cddf0bf08a manager_update_borrow -
490310a88fe2c9fe manager_deposit -
0aeec2e84c374404 manager_request_withdraw -
ebfd20b0915ea2f4 manger_cancel_withdraw_request -
c9f8be8f562bb7fe manager_withdraw -
17c96cd258357b5b manager_update_fuel_distribution_mode -
271ffdf4f1054898 admin_init_fee_update -
bd53b66e84854d24 admin_delete_fee_update -
670b65785c88e6d7 admin_update_vault_class -
cd9cf05a963c9035 manager_update_fees -
b0cc6db15af4459c manager_cancel_fee_update -
70eb36a5b251190a apply_profit_share -
a1730983881d939b apply_rebase -
daa9be4796b84da6 apply_rebase_tokenized_depositor -
6a29223011b13bff force_withdraw -
bbb3f346f85a5c93 initialize_insurance_fund_stake -
fb90730bde2f3eec add_insurance_fund_stake -
8e46cc5c496ab434 request_remove_insurance_fund_stake -
80a68e09febb8fae remove_insurance_fund_stake -
61eb4e3ed42af17f cancel_request_remove_insurance_fund_stake -
5ed0b1fa783370eb transfer_vault_depositor_shares -
bd2e0e1f07fe9684 protocol_request_withdraw -
c2d9ab5e38fdb3f2 protocol_cancel_withdraw_request -
a618bcd115fb3fc7 protocol_withdraw -
`,
  // https://github.com/zetamarkets/sdk/blob/cfb4044388/src/idl/zeta.json (2025-09-29)
  ZETAxsqBRek56DhiGXrn75yj2NHU3aYUnxvHXpkf3aD: `
23d1b41df5c77d10 initialize_zeta_pricing PERPS
a9dd17f8db7a8e9e update_zeta_pricing_pubkeys PERPS
068724e82327fa47 initialize_zeta_group PERPS
81c575726c77cf88 override_expiry PERPS
b72dfb6d866cbff3 migrate_to_new_cross_margin_account PERPS user=3
9d356b68b8bd64dc migrate_to_cross_margin_account PERPS user=2
489a0f1ca5d7d1c7 initialize_cross_margin_account_manager PERPS user=1
a6cbb0d2b0348c69 initialize_cross_margin_account_manager_v2 PERPS user=1
1b1ae432d2d3cd5e initialize_cross_margin_account PERPS user=2
43eb4266a7ab78c5 initialize_margin_account PERPS user=1
ce56fb1b5b6f17d3 initialize_spread_account PERPS user=1
e8b6b689565876fc close_cross_margin_account_manager PERPS user=1
cbc4bb3c0daabe45 close_cross_margin_account PERPS user=2
69d729efa6cf0167 close_margin_account PERPS user=1
bee4fd10c994a1f0 close_spread_account PERPS user=1
726cd55caf7c2b13 initialize_underlying PERPS
0a379ae081aea108 initialize_perp_sync_queue PERPS
5b3fcd901453b178 initialize_market_indexes PERPS
32761515b3f81780 initialize_market_node PERPS user=3
189c087941030552 halt PERPS
f98c1bd58082cf71 unhalt PERPS
d72d35a2958a053f update_halt_state PERPS
be6974dde5c6d053 update_volatility PERPS
4b08ff297b3b87ee update_interest_rate PERPS
7a280e40a912e788 add_perp_market_index PERPS
5ef690af04a4e9fc add_market_indexes PERPS
44274b8ebf925ede initialize_zeta_state PERPS
f939bb66b86825e7 initialize_zeta_treasury_wallet PERPS
f5e5df780786f7f8 initialize_zeta_referrals_rewards_wallet PERPS
a1b028d53cb8b3e4 update_admin PERPS
54e61a4b02b3afea update_secondary_admin PERPS
f1646ed23979776c update_trigger_admin PERPS
2cb99666701c81ef update_ma_type_admin PERPS
49905c774a6a10c8 update_referrals_admin PERPS
49189c1c6e587baf update_pricing_admin PERPS
0b4ee9b8a2995dcf update_treasury_split_token_account PERPS
b4ecfd13e7e7dc41 update_maker_rebate_percentage PERPS
e3ea9df6804ae936 update_take_trigger_order_fee_percentage PERPS
68b614bb03a43c03 update_zeta_state PERPS
7029d112f8e2fcbc update_oracle PERPS
e60921cae4d1b462 update_oracle_backup_feed PERPS
697fd0863d3d71f7 update_pricing_parameters PERPS
4532aec57bc448ec update_margin_parameters PERPS
3cd07993f26a0bfe update_zeta_group_margin_parameters PERPS
5a87db2aa48661ae update_perp_parameters PERPS
48988c9ec35df71f update_zeta_group_perp_parameters PERPS
11457968e1ce8cd7 update_zeta_group_expiry_parameters PERPS
aa734d0ba19df7a9 toggle_zeta_group_perps_only PERPS
7a7f315944e4559d clean_zeta_markets PERPS
898c5e12e7e8d9cc clean_zeta_market_halted PERPS
aa938ba31368a74d settle_positions_halted PERPS
bd2eff217e852bab initialize_market_strikes PERPS
6816227b56e08246 expire_series_override PERPS
2da269622c15ab7f expire_series PERPS
057864bae186080d initialize_market_pda PERPS
f945ba92886b4f71 initialize_zeta_specific_market_vaults PERPS
74efe2952ea3dd03 initialize_zeta_market PERPS
c78fad93cacc40cc initialize_market_tif_epoch_cycle PERPS
eb6d8aad0f2533f4 update_pricing_v2 PERPS
df3ab45666fbed52 update_pricing_v3 PERPS
1752e1dedb7ae6fb apply_perp_funding PERPS
f223c68952e1f2b6 deposit DEPOSIT user=5 vault=2
6d4b4599acda9213 deposit_v2 DEPOSIT user=4 vault=1
ebf709f8cc340932 deposit_permissionless DEPOSIT user=4 vault=1
2f35192f6d7a1616 deposit_insurance_vault DEPOSIT user=6
f22c18135b3b07c9 deposit_insurance_vault_v2 DEPOSIT user=7
749cc052f82973ba choose_airdrop_community PERPS user=1
b712469c946da122 withdraw WITHDRAW user=6 vault=2
f250a300c4ddc2c2 withdraw_v2 WITHDRAW user=6 vault=2
11fad52dac7551e1 withdraw_insurance_vault WITHDRAW user=4
cb472c94e0f245a5 withdraw_insurance_vault_v2 WITHDRAW user=5
37ea1052642a7ec0 initialize_open_orders PERPS user=6
dc11551470ae94e3 initialize_open_orders_v2 PERPS user=5
16bf8b88792754ca initialize_open_orders_v3 PERPS user=5
c8d83fef07e6ff14 close_open_orders PERPS user=5
4e98c4a344b37948 close_open_orders_v2 PERPS user=4
cf0fc64ac5e4b01e close_open_orders_v3 PERPS user=5
a765a1f6d03106e1 close_open_orders_v4 PERPS user=5
73c65a11d28bc1ee admin_reset_dex_open_orders PERPS user=5
3de773db51f39e8a initialize_whitelist_deposit_account PERPS user=2
2b2ef09b50045666 initialize_whitelist_insurance_account PERPS user=2
c681d8b9f71d69be initialize_whitelist_trading_fees_account PERPS user=2
55a372798ba72925 initialize_insurance_deposit_account PERPS user=1
4d12b590db54066a initialize_combined_insurance_vault PERPS
3b6369114977e5fc initialize_combined_vault PERPS
886c58f5e6e06552 initialize_combined_socialized_loss_account PERPS
33c29baf6d82606a place_order PLACE_ORDER owner=3 pool=10
e86f73c4ed8f3ecc place_order_v2 PLACE_ORDER owner=3 pool=10
925d0ea79f14063a place_order_v3 PLACE_ORDER owner=3 pool=10
45a15dca787e4cb9 place_perp_order PLACE_ORDER owner=3 pool=10
cd5482b43f760acf place_perp_order_v2 PLACE_ORDER owner=3 pool=10
f3f8d58fb84f2949 place_order_v4 PLACE_ORDER owner=3 pool=10
5bf660073516eae1 place_perp_order_v3 PLACE_ORDER owner=3 pool=9
a68acd645a6ebf5b place_perp_order_v4 PLACE_ORDER owner=0 pool=9
0718b6199b904b32 place_perp_order_v5 PLACE_ORDER owner=0 pool=9
ccd7f3f33beae179 place_multi_orders PLACE_ORDER owner=0 pool=9
209c32bce89f70ec place_trigger_order PLACE_ORDER owner=2 pool=8
05e4307708d6b796 execute_trigger_order_v2 PERPS user=0
6bcf3be219171fa1 take_trigger_order PERPS
690a6888d78654ab execute_trigger_order PERPS
78ecd81cc04fffbc force_cancel_trigger_order CANCEL_ORDER
df414307bd033f8e cancel_trigger_order_v2 CANCEL_ORDER owner=0
905443271b19ca8d cancel_trigger_order CANCEL_ORDER
0688050ce5926659 update_min_lot PERPS
de7a01dd7b748f6e update_tick_size PERPS
4419332b7eab5057 initialize_min_lots_and_tick_sizes PERPS
b42bd770fe741485 edit_trigger_order PERPS user=0
499fcdb12b557589 edit_trigger_order_v2 PERPS user=0
5f81edf00831df84 cancel_order CANCEL_ORDER owner=0
5f61d7cc6f33ccb8 cancel_order_no_error CANCEL_ORDER owner=0
8bbee6f94da0ce04 cancel_all_market_orders CANCEL_ORDER owner=0
00c0e902fcfb82a9 cancel_order_halted CANCEL_ORDER
73b2c908afb77b77 cancel_order_by_client_order_id CANCEL_ORDER owner=0
354da79daf8390ab cancel_order_by_client_order_id_no_error CANCEL_ORDER owner=0
18e3e2d45d1af2e6 prune_expired_tif_orders PERPS
cc257c399ed3b2d1 prune_expired_tif_orders_v2 PERPS
51f33c5adec929de force_cancel_order_by_order_id_v2 CANCEL_ORDER
b6eb30b3f885d2f0 force_cancel_order_by_order_id CANCEL_ORDER
6efe15f1a0772cfd admin_set_order_state PERPS user=0
43347cc0bf20da5b admin_force_cancel_orders PERPS user=0
0e3e95ca8f113873 force_cancel_orders_v2 CANCEL_ORDER
40b5c43fde4840e8 force_cancel_orders CANCEL_ORDER
668fdc88179e889d admin_crank_event_queue PERPS user=1
438561dfb2bcebb5 crank_event_queue PERPS
f3d504ec1af6b4ae collect_treasury_funds PERPS
fd14ae8c31b17fc5 collect_vault_funds PERPS
0122f269d7d39d12 treasury_movement PERPS
0bc442eb3beddf6f rebalance_insurance_vault PERPS
b8eefe5ca4c7c967 rebalance_insurance_vault_v2 PERPS
0f56553702e1a1eb liquidate_v2 LIQUIDATE user=1 pool=7
dfb3e27d302e274a liquidate LIQUIDATE user=1 pool=7
e9cba5c9af2bbc9f burn_vault_tokens PERPS
a5678e26d3a60ee2 settle_dex_funds PERPS
75104bf9b37fab93 position_movement PERPS user=4
acb80c0a346940d5 transfer_excess_spread_balance PERPS user=3
cbf7549f68fd9450 toggle_market_maker PERPS
69e448ddda12b375 initialize_referrer_accounts PERPS user=0
e04e378bcbec3e4e close_referrer_accounts PERPS user=2
e7d03332de934c4e edit_ma_type PERPS
89f547592ef91635 edit_delegated_pubkey PERPS user=1
3013fed1c8d3313d reset_num_flex_underlyings PERPS
`,
  // https://github.com/drift-labs/jit-proxy/blob/c6b4fb9460/programs/jit-proxy/src/lib.rs (2026-04-01)
  J1TnP8zvVxbtF5KFp5xRmWuvG9McnhzmBd9XGfCyuxFP: `
632a618c983ea7ea jit PERPS user=5
86829c4825789915 jit_signed_msg PERPS
b7ae8ef5051dcf02 check_order_constraints PERPS
74698a631cab27e1 arb_perp PERPS
`,
  // https://github.com/sevenlabs-hq/carbon/tree/9dc3c3a5bb/decoders/marinade-finance-decoder (2026-04-30)
  MarBmsSgKXdrN1egZf5sqe1TMai9K1rChYNDJgjq7aD: `
b59d59438fb63448 add_liquidity ADD_TO_POOL user=5
fa7135368d75d7b9 add_validator -
326a426863769158 change_authority -
3ec6d6c1d59f6cd2 claim UNSTAKE user=3
0a18a8775630e111 config_lp -
43032272beb9113e config_marinade -
1b5a61d111730728 config_validator_system -
a59ee561a8dcbbe1 deactivate_stake -
f223c68952e1f2b6 deposit STAKE user=6 mint=1
6e827329a466023b deposit_stake_account STAKE user=4 mint=7
7b45a8c3b7d5c7d6 emergency_unstake -
afaf6d1f0d989bed initialize -
1e1e77f0bfe30c10 liquid_unstake UNSTAKE user=6 mint=1
d8248de1f34e7ded merge_stakes -
61a7906b75be8024 order_unstake UNSTAKE user=3 mint=1
37f1cddd2d72cda3 partial_unstake -
d316ddfb4a79c12f pause -
0c247c1b806055c7 realloc_stake_list -
d73bda855d8a3c7b realloc_validator_list -
d45233a0e4507423 redelegate -
5055d14818ceb16c remove_liquidity REMOVE_FROM_POOL user=3
1960d39ba10ea8bc remove_validator -
01a633aa7f208dce resume -
6529ce21d86f194e set_validator_score -
57d917b3cd197181 stake_reserve -
0443514088f55d98 update_active -
10e883739c64ef32 update_deactivated -
d355b841b7b1e9d9 withdraw_stake_account UNSTAKE user=3 mint=1
`,
  // https://github.com/marinade-finance/validator-bonds/blob/e5873ec7b1/resources/idl/validator_bonds.json (2026-08-21)
  vBoNdEvzMrSai7is21XgVYik65mqtaKXuSdMBJ1xkW4: `
21f1603ee4b20178 cancel_settlement -
a7646e80719ae04d cancel_withdraw_request -
000dd5ec0ac75e30 claim_settlement_v1 CLAIM
bc358497583234ee claim_settlement_v2 CLAIM
30e8173414867a76 claim_withdraw_request WITHDRAW user=3
7dd459251ff4bfb3 close_settlement_v2 -
e46c4ff252366941 configure_bond -
a7778d7b4c6df185 configure_bond_product -
30bde6277021e308 configure_bond_with_mint -
c662a1a589c8e6cb configure_config -
158f1b8ec8b5d2ff emergency_pause -
00f330b90649be53 emergency_resume -
3a2cd4af1e11443e fund_bond DEPOSIT user=4
b39271221e5c1a13 fund_settlement -
5f5d5db5dd247e40 init_bond -
e423cd773fd14838 init_bond_product -
17eb73e8a86001e7 init_config -
98b2004134d2f73a init_settlement -
8e1fded7534f2231 init_withdraw_request -
0e039217a369f663 merge_stake -
ea5e55e1a766a920 mint_bond -
b725459fa38bd4eb reset_stake -
cf2e22588d243f84 upsize_settlement_claims -
9908168a69b05742 withdraw_stake -
`,
  // https://github.com/jito-foundation/distributor/blob/2cf79f6397/programs/merkle-distributor/idl/merkle_distributor.json (2024-04-04)
  'mERKcfxMC5SqJn4Ld4BUris3WKZZ1ojjWJ3A3J5CKxv MErKy6nZVoVAkryxAejJz2juifQ4ArgLgHmaJCQkU7N': `
208b70ab0002e19b new_distributor -
4eb1627bd215bb53 new_claim CLAIM user=4
22ceb5170bcf935a claim_locked CLAIM user=4
6f5c8e4f21ea521b clawback -
99d92214131de54b set_clawback_receiver -
fba300345bc2bb5c set_admin -
`,
  // https://github.com/solana-program/stake-pool/blob/2a01bc02a7/program/src/instruction.rs (2026-08-17)
  'SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUNakuHy SP12tWFxD9oJsVWNavTTBZvMbA6gkAmxtVgxdqvyvhY': `
00 initialize -
01 add_validator_to_pool -
02 remove_validator_from_pool -
03 decrease_validator_stake -
04 increase_validator_stake -
05 set_preferred_validator -
06 update_validator_list_balance -
07 update_stake_pool_balance -
08 cleanup_removed_validator_entries -
09 deposit_stake STAKE pool=0 mint=10
0a withdraw_stake UNSTAKE user=6 pool=0 mint=9
0b set_manager -
0c set_fee -
0d set_staker -
0e deposit_sol STAKE user=3 pool=0 mint=7
0f set_funding_authority -
10 withdraw_sol UNSTAKE user=2 pool=0 mint=7
11 create_token_metadata -
12 update_token_metadata -
13 increase_additional_validator_stake -
14 decrease_additional_validator_stake -
15 decrease_validator_stake_with_reserve -
16 redelegate -
17 deposit_stake_with_slippage STAKE pool=0 mint=10
18 withdraw_stake_with_slippage UNSTAKE user=6 pool=0 mint=9
19 deposit_sol_with_slippage STAKE user=3 pool=0 mint=7
1a withdraw_sol_with_slippage UNSTAKE user=2 pool=0 mint=7
`,
};

import { numberedErrors } from './error-table.ts';

/** https://docs.rs/solana-system-interface (`SystemError`) */
export const SYSTEM_ERRORS = numberedErrors(0, [
  ['AccountAlreadyInUse', 'the account already exists'],
  ['ResultWithNegativeLamports', 'the sender did not have enough SOL'],
  ['InvalidProgramId', 'the account can not be handed to this program'],
  ['InvalidAccountDataLength', 'the account can not have this size'],
  ['MaxSeedLengthExceeded', 'a seed of the address is too long'],
  ['AddressWithSeedMismatch', 'the address does not match its seed'],
  ['NonceNoRecentBlockhashes', 'the cluster listed no recent blockhash'],
  ['NonceBlockhashNotExpired', 'the stored nonce can not advance yet'],
  ['NonceUnexpectedBlockhashValue', 'the nonce does not match the stored one'],
]);

/** https://docs.rs/solana-stake-interface (`StakeError`) */
export const STAKE_ERRORS = numberedErrors(0, [
  ['NoCreditsToRedeem', 'there is no reward to collect yet'],
  ['LockupInForce', 'the stake is locked up'],
  ['AlreadyDeactivated', 'the stake is already being withdrawn'],
  ['TooSoonToRedelegate', 'the stake can not be moved to another validator yet'],
  ['InsufficientStake', 'the stake is too small to split'],
  ['MergeTransientStake', 'stakes that are starting or ending can not be merged'],
  ['MergeMismatch', 'the two stakes do not match'],
  ['CustodianMissing', 'the address of the custodian is missing'],
  ['CustodianSignatureMissing', 'the custodian did not sign'],
  ['InsufficientReferenceVotes', 'the validator given for comparison voted too little'],
  ['VoteAddressMismatch', 'the stake is with another validator'],
  ['MinimumDelinquentEpochsForDeactivationNotMet', 'the validator has not been absent for long enough'],
  ['InsufficientDelegation', 'the stake is below the minimum'],
  ['RedelegateTransientOrInactiveStake', 'only an active stake can be moved to another validator'],
  ['RedelegateToSameVoteAccount', 'the stake is already with this validator'],
  ['RedelegatedStakeMustFullyActivateBeforeDeactivationIsPermitted', 'the stake must first become active'],
  ['EpochRewardsActive', 'stake accounts can not be changed while rewards are being paid out'],
]);

/** https://docs.rs/solana-vote-interface (`VoteError`) */
export const VOTE_ERRORS = numberedErrors(0, [
  ['VoteTooOld', 'the vote was already recorded or not in the recent slots'],
  ['SlotsMismatch', 'the vote names slots that are not in the recent slots'],
  ['SlotHashMismatch', 'the vote names another block than the cluster has'],
  ['EmptySlots', 'the vote names no slot'],
  ['TimestampTooOld', 'the time in the vote is not recent'],
  ['TooSoonToReauthorize', 'the voter was already changed in this epoch'],
  ['LockoutConflict', 'the vote contradicts an earlier one'],
  ['NewVoteStateLockoutMismatch', 'the vote contradicts an earlier one'],
  ['SlotsNotOrdered', 'the slots of the vote are not in order'],
  ['ConfirmationsNotOrdered', 'the confirmations of the vote are not in order'],
  ['ZeroConfirmations', 'a slot of the vote has no confirmation'],
  ['ConfirmationTooLarge', 'a slot of the vote has too many confirmations'],
  ['RootRollBack', 'the vote goes back behind an earlier one'],
  ['ConfirmationRollBack', 'the vote takes confirmations back'],
  ['SlotSmallerThanRoot', 'the vote names a slot that was already final'],
  ['TooManyVotes', 'the vote names too many slots'],
  ['VotesTooOldAllFiltered', 'every slot of the vote is too old'],
  ['RootOnDifferentFork', 'the vote builds on another chain of blocks'],
  ['ActiveVoteAccountClose', 'a vote account in use can not be closed'],
  ['CommissionUpdateTooLate', 'the commission can only be raised in the first half of an epoch'],
]);

import { ANCHOR_ERRORS } from './anchor-errors.ts';
import { type ErrorTable, mergeErrorTables, numberedErrors } from './error-table.ts';

/** Plain wording for a failed slippage check. */
export const SLIPPAGE_MESSAGE = 'the price moved further than the trader allowed';
const OVERFLOW_MESSAGE = 'a calculation of the program overflowed';

const anchorProgramErrors = (...rows: readonly (readonly [string, string])[]): ErrorTable =>
  mergeErrorTables(ANCHOR_ERRORS, numberedErrors(6000, rows));

/** Errors of the IDL that the program publishes (Jupiter aggregator v6, `errors`). */
export const JUPITER_ERRORS = anchorProgramErrors(
  ['EmptyRoute', 'the trade has no route'],
  ['SlippageToleranceExceeded', SLIPPAGE_MESSAGE],
  ['InvalidCalculation', 'the program calculated an invalid amount'],
  ['MissingPlatformFeeAccount', 'the account for the platform fee is missing'],
  ['InvalidSlippage', 'the allowed price movement is invalid'],
  ['NotEnoughPercent', 'the parts of the trade do not add up to 100 %'],
  ['InvalidInputIndex', 'the route of the trade is invalid'],
  ['InvalidOutputIndex', 'the route of the trade is invalid'],
  ['NotEnoughAccountKeys', 'the program was given too few accounts'],
  ['NonZeroMinimumOutAmountNotSupported', 'this trade can not have a minimum amount'],
  ['InvalidRoutePlan', 'the route of the trade is invalid'],
  ['InvalidReferralAuthority', 'the referral account is invalid'],
  ['LedgerTokenAccountDoesNotMatch', 'the token account is not the recorded one'],
  ['InvalidTokenLedger', 'the record of the token account is invalid'],
  ['IncorrectTokenProgramId', 'the token program is not the expected one'],
  ['TokenProgramNotProvided', 'the token program is missing'],
  ['SwapNotSupported', 'this trade is not supported'],
  ['ExactOutAmountNotMatched', 'the exact amount asked for was not reached'],
  ['SourceAndDestinationMintCannotBeTheSame', 'a token can not be traded for itself'],
  ['InvalidMint', 'the token is not the expected one'],
  ['InvalidProgramAuthority', 'the authority of the program is invalid'],
  ['InvalidOutputTokenAccount', 'the receiving token account is invalid'],
  ['InvalidFeeWallet', 'the fee wallet is invalid'],
  ['InvalidAuthority', 'the authority is invalid'],
  ['InsufficientFunds', 'the trader did not have enough of the token'],
  ['InvalidTokenAccount', 'a token account is invalid'],
  ['BondingCurveAlreadyCompleted', 'the token has moved to another market'],
);

/** https://github.com/raydium-io/raydium-amm/blob/master/program/src/error.rs */
export const RAYDIUM_AMM_ERRORS = numberedErrors(0, [
  ['AlreadyInUse', 'the pool is already in use'],
  ['InvalidProgramAddress', 'an address is not the expected one'],
  ['ExpectedMint', 'an account that must be a token is none'],
  ['ExpectedAccount', 'an account that must be a token account is none'],
  ['InvalidCoinVault', 'a vault is not the pool’s'],
  ['InvalidPCVault', 'a vault is not the pool’s'],
  ['InvalidTokenLP', 'the account for pool shares is invalid'],
  ['InvalidDestTokenCoin', 'a receiving account is invalid'],
  ['InvalidDestTokenPC', 'a receiving account is invalid'],
  ['InvalidPoolMint', 'the token of the pool shares is invalid'],
  ['InvalidOpenOrders', 'the orders account is not the pool’s'],
  ['InvalidMarket', 'the market is not the pool’s'],
  ['InvalidMarketProgram', 'the market program is not the pool’s'],
  ['InvalidTargetOrders', 'the orders account is not the pool’s'],
  ['AccountNeedWriteable', 'an account that must be writable is not'],
  ['AccountNeedReadOnly', 'an account that must be read-only is not'],
  ['InvalidCoinMint', 'a token is not the pool’s'],
  ['InvalidPCMint', 'a token is not the pool’s'],
  ['InvalidOwner', 'an account has another owner than expected'],
  ['InvalidSupply', 'the number of pool shares is invalid'],
  ['InvalidDelegate', 'a token account has a delegate'],
  ['InvalidSignAccount', 'a required signature is missing'],
  ['InvalidStatus', 'the pool does not allow this now'],
  ['InvalidInstruction', 'the program did not understand the instruction'],
  ['WrongAccountsNumber', 'the program was given a wrong number of accounts'],
  ['InvalidTargetAccountOwner', 'an account has another owner than expected'],
  ['InvalidTargetOwner', 'an account has another owner than expected'],
  ['InvalidAmmAccountOwner', 'the pool belongs to another program'],
  ['InvalidParamsSet', 'a parameter is invalid'],
  ['InvalidInput', 'the input is invalid'],
  ['ExceededSlippage', SLIPPAGE_MESSAGE],
  ['CalculationExRateFailure', 'the price could not be calculated'],
  ['CheckedSubOverflow', OVERFLOW_MESSAGE],
  ['CheckedAddOverflow', OVERFLOW_MESSAGE],
  ['CheckedMulOverflow', OVERFLOW_MESSAGE],
  ['CheckedDivOverflow', OVERFLOW_MESSAGE],
  ['CheckedEmptyFunds', 'the pool is empty'],
  ['CalcPnlError', 'the profit of the pool could not be calculated'],
  ['InvalidSplTokenProgram', 'the token program is not the expected one'],
  ['TakePnlError', 'the profit of the pool could not be taken'],
  ['InsufficientFunds', 'the trader did not have enough of the token'],
  ['ConversionFailure', OVERFLOW_MESSAGE],
  ['InvalidUserToken', 'the trader’s account holds another token'],
]);

/** https://github.com/raydium-io/raydium-clmm/blob/master/programs/amm/src/error.rs */
export const RAYDIUM_CLMM_ERRORS = anchorProgramErrors(
  ['NotApproved', 'the signer may not do this'],
  ['InvalidUpdateConfigFlag', 'the setting is invalid'],
  ['AccountLack', 'an account is missing'],
  ['ClosePositionErr', 'a position that still holds something can not be closed'],
  ['InvalidTickIndex', 'the price range is invalid'],
  ['TickInvalidOrder', 'the price range is invalid'],
  ['TickLowerOverflow', 'the price range is invalid'],
  ['TickUpperOverflow', 'the price range is invalid'],
  ['TickAndSpacingNotMatch', 'the price range is invalid'],
  ['InvalidTickArray', 'a price account is not the pool’s'],
  ['InvalidTickArrayBoundary', 'a price account is not the expected one'],
  ['SqrtPriceLimitOverflow', 'the price limit of the trade is out of range'],
  ['SqrtPriceX64', 'the price is out of range'],
  ['LiquiditySubValueErr', 'the liquidity to remove is invalid'],
  ['LiquidityAddValueErr', 'the liquidity to add is invalid'],
  ['ForbidBothZeroForSupplyLiquidity', 'no liquidity was given'],
  ['LiquidityInsufficient', 'the pool does not hold enough'],
  ['PriceSlippageCheck', SLIPPAGE_MESSAGE],
  ['TooLittleOutputReceived', SLIPPAGE_MESSAGE],
  ['TooMuchInputPaid', SLIPPAGE_MESSAGE],
  ['ZeroAmountSpecified', 'the amount is zero'],
  ['InvalidInputPoolVault', 'a vault is not the pool’s'],
  ['TooSmallInputOrOutputAmount', 'the amount is too small'],
  ['NotEnoughTickArrayAccount', 'the program was given too few price accounts'],
  ['InvalidFirstTickArrayAccount', 'the first price account is not the expected one'],
);

/** https://github.com/raydium-io/raydium-cp-swap/blob/master/programs/cp-swap/src/error.rs */
export const RAYDIUM_CPMM_ERRORS = anchorProgramErrors(
  ['NotApproved', 'the signer may not do this'],
  ['InvalidOwner', 'an account has another owner than expected'],
  ['EmptySupply', 'a token account is empty'],
  ['InvalidInput', 'the input is invalid'],
  ['IncorrectLpMint', 'the token of the pool shares is invalid'],
  ['ExceededSlippage', SLIPPAGE_MESSAGE],
  ['ZeroTradingTokens', 'the trade is too small to give anything'],
  ['NotSupportMint', 'the token is not supported'],
);

/** https://github.com/orca-so/whirlpools/blob/main/programs/whirlpool/src/errors.rs */
export const WHIRLPOOL_ERRORS = mergeErrorTables(
  ANCHOR_ERRORS,
  numberedErrors(6011, [
    ['SqrtPriceOutOfBounds', 'the price is out of range'],
    ['LiquidityZero', 'the liquidity is zero'],
    ['LiquidityTooHigh', 'the liquidity is too high'],
    ['LiquidityOverflow', OVERFLOW_MESSAGE],
    ['LiquidityUnderflow', OVERFLOW_MESSAGE],
    ['LiquidityNetError', OVERFLOW_MESSAGE],
    ['TokenMaxExceeded', SLIPPAGE_MESSAGE],
    ['TokenMinSubceeded', SLIPPAGE_MESSAGE],
  ]),
  numberedErrors(6034, [
    ['InvalidSqrtPriceLimitDirection', 'the price had already passed the limit of the trade'],
    ['ZeroTradableAmount', 'the amount is zero'],
    ['AmountOutBelowMinimum', SLIPPAGE_MESSAGE],
    ['AmountInAboveMaximum', SLIPPAGE_MESSAGE],
  ]),
  numberedErrors(6057, [['PartialFillError', 'only a part of the trade was possible']]),
  numberedErrors(6064, [['TradeIsNotEnabled', 'the pool does not trade yet']]),
);

/** Errors that traders meet, from the IDL that Meteora publishes (lb_clmm, `errors`). */
export const METEORA_DLMM_ERRORS = anchorProgramErrors(
  ['InvalidStartBinIndex', 'the price range is invalid'],
  ['InvalidBinId', 'the price range is invalid'],
  ['InvalidInput', 'the input is invalid'],
  ['ExceededAmountSlippageTolerance', SLIPPAGE_MESSAGE],
  ['ExceededBinSlippageTolerance', SLIPPAGE_MESSAGE],
);

/** Errors that traders meet, from the IDL that Pump.fun publishes (pump, `errors`). */
export const PUMP_ERRORS = anchorProgramErrors(
  ['NotAuthorized', 'the signer may not do this'],
  ['AlreadyInitialized', 'the program is already set up'],
  ['TooMuchSolRequired', SLIPPAGE_MESSAGE],
  ['TooLittleSolReceived', SLIPPAGE_MESSAGE],
  ['MintDoesNotMatchBondingCurve', 'the token is not the one of this market'],
  ['BondingCurveComplete', 'the token has moved to another market'],
  ['BondingCurveNotComplete', 'the token has not moved to another market yet'],
);

/** The error that PumpSwap's traders meet, from the same source (pump_amm). */
export const PUMP_SWAP_ERRORS = mergeErrorTables(
  ANCHOR_ERRORS,
  numberedErrors(6004, [['ExceededSlippage', SLIPPAGE_MESSAGE]]),
);

import { COMMITMENTS, type Commitment } from '../../../shared/domain/commitment.ts';
import type { RpcMethod } from '../../../shared/domain/rpc-methods.ts';
import { RPC_ERROR_CODE } from './rpc-error-code.ts';

/** An error of a server's own, and the one that agave has for the same thing. */
interface ErrorDeviation {
  readonly code: number;
  readonly message: RegExp;
  readonly meaning: AgaveError;
}

export interface AgaveError {
  readonly code: number;
  readonly message: string;
  /** What the operator reads, where the server is the cause and another may do better. */
  readonly cause?: string;
}

/** How one kind of server differs from agave, which all others follow. */
export interface ServerProfile {
  readonly name: 'agave' | 'cloudbreak' | 'sig' | 'firedancer';
  /** The form of its `solana-core` in getVersion; agave's is any other. */
  readonly version?: RegExp;
  /** The methods of ours that it serves. */
  readonly methods?: ReadonlySet<RpcMethod>;
  /** The commitments whose slots its WebSocket notifies of. Without any it has no WebSocket. */
  readonly notifiedSlots: readonly Commitment[];
  /** Whether notifications of several subscriptions come in the order of the slots: leases rest on nothing else (I2). */
  readonly keepsOrder: boolean;
  /** Methods that call absent what the server doesn't index. */
  readonly incomplete: ReadonlySet<RpcMethod>;
  readonly errors: readonly ErrorDeviation[];
}

const MIN_CONTEXT_SLOT: AgaveError = {
  code: RPC_ERROR_CODE.minContextSlotNotReached,
  message: 'Minimum context slot has not been reached',
};
/** What agave answers for methods that have nothing at processed, as getBlock. */
const NOT_AT_PROCESSED: AgaveError = {
  code: RPC_ERROR_CODE.invalidParams,
  message: 'Method does not support commitment below `confirmed`',
};
/** The cause of an error of a server that refuses all reads at processed. */
export const PROCESSED_REFUSED = 'it serves no reads at processed';
const invalidParam = (message: string): AgaveError => ({ code: RPC_ERROR_CODE.invalidParams, message });

/**
 * Agave, and what shares its RPC service: Jito, and Frankendancer, whose version is 0.NNN.NNNNN.
 * https://github.com/anza-xyz/agave/blob/master/rpc-client-api/src/custom_error.rs
 * https://github.com/firedancer-io/firedancer/blob/178b48fe/src/app/fdctl/with-version.mk
 */
export const AGAVE: ServerProfile = {
  name: 'agave',
  notifiedSlots: COMMITMENTS,
  keepsOrder: true,
  incomplete: new Set(),
  errors: [],
};

/**
 * Cloudbreak, the index of accounts in Triton's RPC 2.0. It has no WebSocket, refuses processed reads unless its operator
 * maps them to confirmed, and answers null or 0 for an account whose owner it doesn't index. A provider may send only
 * some methods there, so that the version is agave's.
 * https://github.com/solana-rpc/cloudbreak/blob/19a489c7/README.md (methods, version, commitments)
 * https://github.com/solana-rpc/cloudbreak/blob/19a489c7/crates/api/src/error.rs (codes, and both texts of each)
 * https://github.com/solana-rpc/cloudbreak/blob/19a489c7/crates/api/src/http/server.rs (paths: no upgrade)
 * https://docs.triton.one/solana/reading-account-state/cloudbreak-indexed-accounts
 */
const CLOUDBREAK: ServerProfile = {
  name: 'cloudbreak',
  version: /-cloudbreak/,
  methods: new Set<RpcMethod>([
    'getAccountInfo',
    'getBalance',
    'getGenesisHash',
    'getHealth',
    'getMultipleAccounts',
    'getProgramAccounts',
    'getSlot',
    'getTokenAccountBalance',
    'getTokenAccountsByOwner',
    'getVersion',
  ]),
  notifiedSlots: [],
  keepsOrder: false,
  incomplete: new Set<RpcMethod>(['getAccountInfo', 'getBalance', 'getMultipleAccounts', 'getTokenAccountBalance']),
  errors: [
    { code: -32000, message: /min[ _]context[ _]slot/i, meaning: MIN_CONTEXT_SLOT },
    { code: -32003, message: /processed[ _]commitment/i, meaning: { ...NOT_AT_PROCESSED, cause: PROCESSED_REFUSED } },
  ],
};

/**
 * Sig. An error that it maps to none of agave's has the code of an invalid request and the name of a Zig error. Its
 * WebSocket keeps the order of each subscription only, as threads serialize the notifications.
 * https://github.com/Syndica/sig/blob/b5026c60/v1/src/rpc/hooks.zig (`mapError`)
 * https://github.com/Syndica/sig/blob/b5026c60/v1/src/rpc/hook_contexts/Ledger.zig, Account.zig, slot_resolution.zig
 * https://github.com/Syndica/sig/blob/b5026c60/v1/src/rpc/jrpc_websockets/handler.zig (`sendNext`)
 * https://github.com/Syndica/sig/blob/b5026c60/build.zig.zon (version)
 */
const SIG: ServerProfile = {
  name: 'sig',
  version: /^0\.\d{1,2}\.\d{1,3}$/,
  notifiedSlots: COMMITMENTS,
  keepsOrder: false,
  incomplete: new Set(),
  errors: (
    [
      ['RpcMinContextSlotNotMet', MIN_CONTEXT_SLOT],
      ['ProcessedNotSupported', NOT_AT_PROCESSED],
      ['SlotUnavailable', { code: RPC_ERROR_CODE.blockNotAvailable, message: 'Block not available for slot' }],
      ['SlotCleanedUp', { code: RPC_ERROR_CODE.blockCleanedUp, message: 'Block cleaned up, does not exist on node' }],
      ['SlotNotAvailable', { code: RPC_ERROR_CODE.nodeUnhealthy, message: 'Node is unhealthy' }],
      ['RpcAccountNotFound', invalidParam('Invalid param: could not find account')],
      ['RpcNotATokenAccount', invalidParam('Invalid param: not a Token account')],
      ['RpcMintNotFound', invalidParam('Invalid param: could not find mint')],
      ['RpcMintUnpackFailed', invalidParam('Invalid param: Token mint could not be unpacked')],
      ['TooManyInputs', invalidParam('Too many inputs provided; max 100')],
      ['FirstSlotTooSmall', invalidParam('firstSlot is too small')],
      ['LastSlotTooLarge', invalidParam('lastSlot is too large')],
      ['[A-Z][A-Za-z0-9]+', { code: RPC_ERROR_CODE.internalError, message: 'Internal error' }], // any other
    ] as const
  ).map(([name, meaning]) => ({
    code: RPC_ERROR_CODE.invalidRequest,
    message: new RegExp(`^${name}$`),
    meaning,
  })),
};

/**
 * Firedancer, not Frankendancer. Methods that it has not implemented are HTTP 501 without a body. Its WebSocket has
 * `slotSubscribe` and `voteSubscribe` alone. What it can't do in other methods, as jsonParsed, has a code of its own.
 * https://github.com/firedancer-io/firedancer/blob/178b48fe/src/discof/rpc/fd_rpc_tile.c
 * Its versions are 1.N.N and, since 2026, the year's: https://github.com/firedancer-io/firedancer/tags
 */
const FIREDANCER: ServerProfile = {
  name: 'firedancer',
  version: /^(1\.\d|2[6-9]|[3-9]\d)\.\d+(\.|$)/, // Solana's own 1.x ended with two digits: 1.18
  methods: new Set<RpcMethod>([
    'getAccountInfo',
    'getBalance',
    'getBlockHeight',
    'getClusterNodes',
    'getEpochInfo',
    'getGenesisHash',
    'getHealth',
    'getLatestBlockhash',
    'getMultipleAccounts',
    'getSlot',
    'getVersion',
  ]),
  notifiedSlots: ['processed'],
  keepsOrder: false,
  incomplete: new Set(),
  errors: [],
};

const OTHERS: readonly ServerProfile[] = [CLOUDBREAK, SIG, FIREDANCER];

export const profileOfVersion = (version: string): ServerProfile =>
  OTHERS.find((profile) => profile.version?.test(version)) ?? AGAVE;

/** Code and text identify it whatever version is named: several servers may answer behind one address. */
export const agaveErrorOf = (code: number, message: string): AgaveError | undefined =>
  OTHERS.flatMap(({ errors }) => errors).find((error) => error.code === code && error.message.test(message))?.meaning;

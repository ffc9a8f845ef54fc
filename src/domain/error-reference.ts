import type { ErrorCode } from './gateway-error.ts';

/** What people are told of an error besides its message. Markdown in one line. */
interface ErrorWords {
  /** What has happened. */
  readonly meaning: string;
  /** What the caller, or the operator, can do about it. */
  readonly fix: string;
}

/** The meaning of every error and its cure, for the API document and the reference. Programs need neither. */
export const ERROR_REFERENCE: Readonly<Record<ErrorCode, ErrorWords>> = {
  invalid_address: {
    meaning: 'a parameter is not an address: 32 bytes in base58',
    fix: 'Send the address in base58, 32 to 44 letters and digits, without blanks. A name, a signature or part of an address is none: `/search?q=` says what a text is.',
  },
  invalid_signature: {
    meaning: 'a parameter is not a transaction signature: 64 bytes in base58',
    fix: 'Send the whole signature in base58, 86 to 88 letters and digits.',
  },
  invalid_slot: {
    meaning: 'a slot is not a decimal number',
    fix: 'Send the slot, also in `X-Min-Slot`, in decimal digits alone: no sign, no comma, no leading zero.',
  },
  invalid_page: {
    meaning: 'a page is not a number from 1 on',
    fix: 'Count pages from 1. A block has pages with `signatures=all` only.',
  },
  invalid_query: {
    meaning: 'a query parameter is unknown, repeated, badly escaped or has a value that it can not take',
    fix: 'Send only the parameters that the route has, each once, percent-encoded; the message names the one that is wrong.',
  },
  invalid_cursor: {
    meaning: '`before` is not a signature',
    fix: 'Send the `nextBefore` of the page before, or any other signature of the history.',
  },
  invalid_json: {
    meaning: 'the request body is not JSON, or nests deeper than 64 levels',
    fix: 'Send one JSON value in UTF-8, nested at most 64 levels deep.',
  },
  invalid_request: {
    meaning:
      'the request is malformed HTTP, the gateway does not answer for its `Host` or `Origin`, or its body is not of the form that the route takes, has too many values, or holds what no transaction can',
    fix: 'Read the message, which names the fault. A `Host` or `Origin` that is refused must be added to the settings `hosts` or `origins`. Over a proxy, let it send one request as one request: no body with a GET, one length.',
  },
  invalid_params: {
    meaning: '`params` is not an array, or holds a number that would be rounded',
    fix: 'Send `params` as an array, with integers below 2^53.',
  },
  invalid_nonce: {
    meaning: 'the nonce is malformed, or the response is not signed',
    fix: 'Send 16 to 64 letters, digits, `-` or `_`, and only where answers are signed: not to `/network`, `/health`, `/pubkey`, a POST or the stream.',
  },
  unclassifiable: {
    meaning: 'the search text is no address, signature, slot or name',
    fix: 'Send one address, signature, slot, `.sol` name, ticker, or the URL of an explorer with one of them in it.',
  },
  invalid_api_key: {
    meaning: 'the API key is unknown, revoked or expired',
    fix: 'Check the key in `X-Api-Key`: it may be empty, cut, revoked or expired. Without the header you have the free tier. The operator sees keys with `slotgate keys list`.',
  },
  invalid_stake_proof: {
    meaning: 'the stake proof does not verify',
    fix: "Sign the text of `slotgate stake text` anew with the wallet, within the day, for this gateway's host; `slotgate stake check` names what is wrong.",
  },
  rpc_method_not_allowed: {
    meaning: 'the method is not one of the read methods that are allowed',
    fix: 'Use one of the 21 read methods, spelled as Solana spells them; the API document lists them. Send transactions to a node.',
  },
  not_found: {
    meaning: 'the requested item does not exist',
    fix: 'Check the cluster (`/health`) and the commitment: at `finalized` a new transaction appears some 15 seconds later. Nodes may have forgotten an old one.',
  },
  slot_skipped: {
    meaning: 'the slot has no block and never will',
    fix: 'Ask for the slot before or after: the leader of this one made no block.',
  },
  block_not_available: {
    meaning: 'the block does not exist yet',
    fix: 'Wait until the slot is over, or ask at a lower commitment; `/slot` has the newest slot.',
  },
  cursor_not_found: {
    meaning: '`before` names no transaction of the address that the cluster knows',
    fix: "Start again without `before`, or send a signature of this address's own history.",
  },
  not_a_mint: {
    meaning: 'the account is not a mint',
    fix: 'Ask `/search?q=` what the address is; of a token account `/account` names the mint.',
  },
  unknown_key: {
    meaning: 'no key of this gateway has this id',
    fix: 'Ask `/pubkey` without `kid` for the key that signs now. If a receipt names a key that no gateway of yours knows, do not trust it.',
  },
  route_not_found: {
    meaning: 'no route has this path',
    fix: 'Compare the path with `/api/v1/openapi.json`: all routes are below `/api/v1`, have no slash at the end and are case-sensitive.',
  },
  method_not_allowed: {
    meaning: 'the path has other methods, named in `Allow`',
    fix: 'Use a method that `Allow` names: `/rpc` and `/explain` take POST, all others GET.',
  },
  block_pruned: {
    meaning: 'the block is older than those that the upstreams keep',
    fix: 'Ask a gateway over an archival node (`archival: true` of an upstream), or for a newer block.',
  },
  key_revoked: {
    meaning: 'the key is revoked, and every receipt it signed is void',
    fix: 'Do not trust receipts of this key. Pin the key that the operator publishes now.',
  },
  payload_too_large: {
    meaning: 'the request body is too large; the message names the limit',
    fix: 'Send less; the message names the limit, `limits.bodyBytes` of the configuration, or 256 KiB for `/explain`.',
  },
  result_too_large: {
    meaning: 'the answer would be too large, or larger than the tier of the caller gets',
    fix: 'Ask for less: one `mint`, a smaller `limit`, a `dataSlice` of `/rpc`. An API key has a larger limit for `/rpc`.',
  },
  uri_too_long: {
    meaning: 'the canonical request is over 2,045 bytes',
    fix: 'Ask for fewer addresses at once, or leave out parameters.',
  },
  unsupported_media_type: {
    meaning: 'the request body is not `application/json`',
    fix: 'Send `Content-Type: application/json`.',
  },
  upgrade_required: {
    meaning: 'the path is a WebSocket (version 13)',
    fix: "Open the path as a WebSocket: `new WebSocket('wss://…/api/v1/stream')`; a proxy must pass `Upgrade` and `Connection` on.",
  },
  headers_too_large: {
    meaning: 'the request line and the headers together are longer than 16 KiB',
    fix: 'Send fewer or shorter headers. Only the engine `node` answers in this form: uWebSockets.js has a 431 of its own.',
  },
  rate_limited: {
    meaning:
      'the request costs more units than are left in the window; the message names its price, and `Retry-After` says when units are free',
    fix: 'Wait for the seconds in `Retry-After`. Ask for many balances in one request, follow accounts by the stream, send `If-None-Match`; or use an API key. Behind a proxy that is not in `trustedProxies` all callers share one window.',
  },
  internal_error: {
    meaning: 'a defect of the gateway; its log has the `X-Request-Id`',
    fix: 'Report it, with the `X-Request-Id`, which the log of the gateway has with the cause. Another request may well succeed.',
  },
  holders_unavailable: {
    meaning: 'no upstream lists the holders of this mint',
    fix: 'Ask for the first page, which needs no scan, or after five minutes. The operator may add a node that allows `getProgramAccounts` for tokens.',
  },
  upstream_error: {
    meaning: 'the upstream sent a malformed or unexpected response',
    fix: 'Retry: another node may do better. If it stays, `/health` names the node.',
  },
  rpc_error: {
    meaning: 'the upstream refused the call: its error code is in `X-Rpc-Error-Code` and starts the message',
    fix: "Read the message: it is the node's own. -32602 is a wrong parameter, -32005 a node that is behind, -32007 and -32009 a slot that was skipped or is gone.",
  },
  unhealthy: {
    meaning: 'the gateway can not answer as it should; the message says why',
    fix: 'Read the message, which names each node and its problem; the operator finds it with `slotgate doctor`.',
  },
  upstream_unavailable: {
    meaning: 'no upstream can be reached, or all are rate-limiting the gateway',
    fix: 'Retry after a moment. The operator: `/health` and `slotgate doctor` say why no node answers; more nodes or a higher plan help against their rate limits.',
  },
  stale: {
    meaning:
      'the answer was last validated too long ago, or no upstream has reached the slot of an answer already served',
    fix: 'Retry after a moment: the nodes are behind or gone, and the gateway serves nothing that is too old (`cache.maxStaleSlots`).',
  },
  min_slot_not_reached: {
    meaning: 'no upstream has reached the slot that the request asks for',
    fix: 'Retry, or ask for a lower `X-Min-Slot`; the message has the slot that was reached. A slot of another commitment, or of another cluster, may never be reached.',
  },
  overloaded: {
    meaning:
      'too many requests are in progress, of the caller or of all, or too many bytes of answers wait for their readers',
    fix: 'Retry after a pause that grows, and send fewer requests at once. Cache hits are served all the same.',
  },
  shutting_down: {
    meaning: 'the gateway is shutting down',
    fix: 'Connect again: another process, or this one after its restart, answers.',
  },
  upstream_timeout: {
    meaning: 'the upstream did not answer in time',
    fix: 'Retry, or ask for less: long lists and old blocks take nodes longest. The bound is `upstream.timeoutMs`.',
  },
};

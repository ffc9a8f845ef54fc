import {
  createAnswerVerifier,
  createSender,
  finalityCheck,
  newNonce,
  SlotgateError,
  TrustStore,
  unsignedEnvelope,
} from '../../client/index.ts';
import { parseTrustedKey, type Receipt, resultTextIn } from '../../client/verify/index.ts';
import type { Envelope } from '../../shared/domain/envelope.ts';
import type { Slot } from '../../shared/domain/slot.ts';
import { systemClock } from '../../shared/runtime/system-clock.ts';
import type { ChosenGateway } from './gateway-options.ts';

export interface Fetched {
  /** The path of the route as it is declared. */
  readonly routePath: string;
  readonly result: string;
  readonly slot: Slot | undefined;
  /** Undefined for a route without receipts. */
  readonly proof: Proof | undefined;
}

export interface Proof {
  readonly receipt: Receipt;
  /** The trusted key that has signed the receipt. */
  readonly publicKey: string;
}

/** Reads a route, and verifies its answer. Rejects with SlotgateError or ReceiptError. */
export async function fetchVerified(
  routePath: string,
  target: string,
  gateway: ChosenGateway,
  flags: { readonly nonce?: true; readonly minSlot?: Slot },
): Promise<Fetched> {
  const clock = systemClock;
  const send = createSender({ url: gateway.url, attempts: 3, maxBodyBytes: 64 * 1024 * 1024 });
  const nonce = flags.nonce === true ? newNonce() : null;
  const headers = {
    ...(nonce !== null && { 'x-receipt-nonce': nonce }),
    ...(flags.minSlot !== undefined && { 'x-min-slot': String(flags.minSlot) }),
  };
  const { body } = await send({ target, headers }, {});
  const envelope = unsignedEnvelope(routePath);
  if (envelope !== undefined)
    return { routePath, ...unsignedResult(new TextDecoder().decode(body), envelope), proof: undefined };
  const trustStore = new TrustStore({ send, clock, publicKeys: gateway.publicKey ?? [], cluster: gateway.cluster });
  const verify = createAnswerVerifier({ trustStore, clock, maxAgeMs: 60_000 });
  const isFinal = finalityCheck(routePath);
  const verified = await verify(body, { request: `GET ${target}`, nonce, minSlot: flags.minSlot, isFinal });
  const { slot, receipt } = verified;
  const { publicKeys } = await trustStore.anchors();
  const publicKey = publicKeys.find((key) => parseTrustedKey(key).kid === receipt.kid) ?? ''; // it was just used
  return { routePath, result: resultTextIn(verified.body, slot) ?? '', slot, proof: { receipt, publicKey } };
}

/** Returns the text of a result without a receipt. Throws `unreadable` for what is no answer of a gateway. */
function unsignedResult(body: string, envelope: Envelope): Pick<Fetched, 'result' | 'slot'> {
  const [, result = '', slot] =
    FORMS[envelope === 'plain' || envelope === 'anchored' ? envelope : 'bare'].exec(body) ?? [];
  try {
    JSON.parse(result);
  } catch (cause) {
    throw new SlotgateError('unreadable', 'what answers there is no gateway', { cause });
  }
  return { result, slot: slot === undefined ? undefined : Number(slot) };
}

const FORMS = {
  plain: /^(.+)$/s,
  bare: /^\{"result":(.+)\}$/s,
  anchored: /^\{"result":(.+),"slot":(\d+)\}$/s,
} as const;

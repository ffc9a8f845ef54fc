import type { GatewayError } from '../../../shared/domain/gateway-error.ts';
import type { MessageId } from './stream-message.ts';

/** What an error frame names besides the message or the subscription that it is about. */
export interface ErrorSubject {
  /** The address, where a message named several. */
  readonly address?: string | undefined;
  readonly ids?: readonly MessageId[];
}

/** `retryAfter` are the seconds after which another try may succeed, as in the header of this name. */
export function errorFrame(id: MessageId, error: GatewayError, { address, ids }: ErrorSubject = {}): string {
  const { error: code, message } = error.toJSON();
  return JSON.stringify({ type: 'error', id, address, error: code, message, retryAfter: error.retryAfter, ids });
}

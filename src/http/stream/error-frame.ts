import type { GatewayError } from '../../domain/gateway-error.ts';
import type { MessageId } from './stream-message.ts';

/** Formats the error frame for the message or the subscription with this id. */
export function errorFrame(id: MessageId, error: GatewayError): string {
  const { error: code, message } = error.toJSON();
  return JSON.stringify({ type: 'error', id, error: code, message });
}

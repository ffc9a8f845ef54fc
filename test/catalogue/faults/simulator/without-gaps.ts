import type { PubsubSession } from '../../../../src/upstream/pubsub/pubsub-session.ts';

/**
 * Says of each Clock update that its bank follows the one before, as if a node notified each bank: a control that the
 * simulator must catch.
 */
export function withoutGaps(session: PubsubSession): PubsubSession {
  const onClockUpdate = session.onClockUpdate.bind(session);
  return Object.assign(session, {
    onClockUpdate(...[commitment, listener]: Parameters<PubsubSession['onClockUpdate']>) {
      return onClockUpdate(commitment, (update) => listener({ ...update, isNextBank: update.previous !== undefined }));
    },
  });
}

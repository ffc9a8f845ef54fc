export class ChannelStats {
  sent = 0;
  sentBytes = 0;
  /** Messages that Redis didn't accept. */
  unsent = 0;
  received = 0;
  receivedBytes = 0;
  /** Messages that were not accepted: forged or changed, of no form, of a leader that has been replaced. */
  readonly rejected = { mac: 0, malformed: 0, outdated: 0 };
  gaps = 0;
  snapshotsSent = 0;
  snapshotsTaken = 0;
}

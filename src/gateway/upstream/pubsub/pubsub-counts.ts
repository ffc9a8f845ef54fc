/** Counts the WebSockets to one node, and what is subscribed to over them. */
export class PubsubCounts {
  subscriptions = 0;
  /** The WebSockets that were opened again after a loss. */
  reconnects = 0;
  #lost = 0;

  /** Records that a WebSocket is open: again, if one was lost before. */
  recordOpen(): void {
    if (this.#lost === 0) return;
    this.#lost--;
    this.reconnects++;
  }

  /** Records that an open WebSocket was closed, and not by us since it is no longer needed. */
  recordLoss(): void {
    this.#lost++;
  }
}

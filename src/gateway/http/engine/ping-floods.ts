/** The pings of a peer that are answered in a turn of the event loop, each by a system call; one that sends more is closed. */
const MAX_PINGS_PER_TURN = 64;

/** Finds the WebSockets of peers that send too many pings. An engine reads one connection after the other. */
export class PingFloods {
  #socket: object | undefined;
  #pings = 0;

  /** Counts a ping. Returns true if its socket is to be closed. */
  isFlood(socket: object): boolean {
    if (this.#socket !== socket) {
      [this.#socket, this.#pings] = [socket, 0];
      setImmediate(() => {
        this.#socket = undefined;
      });
    }
    return ++this.#pings > MAX_PINGS_PER_TURN;
  }
}

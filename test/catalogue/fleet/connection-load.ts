import { Agent, request } from 'node:http';

/** What callers of one port have seen. */
export interface ConnectionCounts {
  /** Connections that were opened for one request each, and how many of them were answered. */
  opened: number;
  answered: number;
  /** Those that were refused or reset, by reason. */
  readonly failures: Map<string, number>;
  /** Requests on connections that are kept, and how many of them were cut off without an answer. */
  keptAnswered: number;
  keptCut: number;
  /** Answers with another status than 200. */
  refused: number;
}

/** A load that runs until it is stopped. */
export interface ConnectionLoad {
  readonly counts: ConnectionCounts;
  stop(): Promise<void>;
}

const NEW_CONNECTIONS = 16;
const KEPT_CONNECTIONS = 24;

/** New connections come from this number of loopback addresses: each has few ports that wait for the end of an old connection. */
const ADDRESSES = 200;

/** Time between two requests on a kept connection. */
const KEPT_PAUSE_MS = 5;

/** Opens connections to a gateway all the time, and sends requests over others that it keeps as long as they may be. */
export function startConnectionLoad(url: string): ConnectionLoad {
  const failures = new Map<string, number>();
  const counts: ConnectionCounts = { opened: 0, answered: 0, failures, keptAnswered: 0, keptCut: 0, refused: 0 };
  const agent = new Agent({ keepAlive: true, maxSockets: KEPT_CONNECTIONS });
  let isOver = false;

  /** Sends a request; returns the status of its answer, or why there is none and whether its connection had been kept. */
  const send = (options: { readonly agent: Agent | false; readonly localAddress?: string }) =>
    new Promise<number | { readonly reason: string; readonly wasKept: boolean }>((resolve) => {
      const sent = request(`${url}/api/v1/slot`, options, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', (err) => resolve({ reason: err.message, wasKept: sent.reusedSocket }));
      });
      const onError = ({ code = 'unknown' }: NodeJS.ErrnoException): void =>
        resolve({ reason: code, wasKept: sent.reusedSocket });
      sent.on('error', onError).end();
    });
  const sendOver = async (isKept: boolean): Promise<void> => {
    const localAddress = `127.0.0.${2 + (counts.opened % ADDRESSES)}`;
    if (!isKept) counts.opened++;
    const outcome = await send(isKept ? { agent } : { agent: false, localAddress });
    if (typeof outcome !== 'number') {
      if (outcome.wasKept) counts.keptCut++;
      else failures.set(outcome.reason, (failures.get(outcome.reason) ?? 0) + 1);
    } else if (outcome !== 200) counts.refused++;
    else counts[isKept ? 'keptAnswered' : 'answered']++;
    if (isKept) await new Promise((resolve) => setTimeout(resolve, KEPT_PAUSE_MS));
  };
  const untilOver = async (isKept: boolean): Promise<void> => {
    while (!isOver) await sendOver(isKept);
  };
  const all = Array.from({ length: NEW_CONNECTIONS + KEPT_CONNECTIONS }, (_, i) => untilOver(i >= NEW_CONNECTIONS));
  return {
    counts,
    async stop() {
      isOver = true;
      await Promise.all(all);
      agent.destroy();
    },
  };
}

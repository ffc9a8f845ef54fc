import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection } from '../../support/raw-connection.ts';

const PATIENCE_MS = 5000;

/** Sends a request to any listener over a connection of its own; returns the status of the answer, or why there is none. */
export async function statusOf(url: string, request: string): Promise<string> {
  const connection = await RawConnection.open(url);
  connection.write(request);
  const endMs = performance.now() + PATIENCE_MS;
  while (connection.text === '' && !connection.closed && performance.now() < endMs) await sleep(1);
  connection.reset();
  return connection.text === '' ? (connection.closed ? 'closed' : 'no answer') : connection.text.slice(9, 12);
}

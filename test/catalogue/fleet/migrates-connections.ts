import { readFileSync } from 'node:fs';

/** Whether the kernel hands connections that wait for a listener which closes on to another one of the port. */
export function migratesConnections(): boolean {
  try {
    return readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'latin1').trim() === '1';
  } catch {
    return false; // older than Linux 5.14
  }
}

import { LogWriter, MAX_BATCH_BYTES } from '../../src/gateway/fleet/transport/shared-log/log-writer.ts';

/** A process that writes frames, whose first and last words are equal, until it is killed. */
const [path = ''] = process.argv.slice(2);
const writer = new LogWriter({ path, bytes: 4 * MAX_BATCH_BYTES });
const MOST_BYTES = 2 * MAX_BATCH_BYTES; // a reader that begins later is not overtaken

let number = 0;
const write = (): void => {
  for (let i = 0; i < 5 && writer.end < MOST_BYTES; i++) {
    const payload = Buffer.alloc(8 + (number % 300));
    payload.writeUInt32LE(number, 0);
    payload.writeUInt32LE(number, payload.length - 4);
    writer.append(payload);
    writer.flush();
    number++;
  }
  if (number === 5) process.send?.('written');
  setImmediate(write);
};
write();

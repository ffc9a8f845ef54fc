/** 128 and the number of SIGPIPE: what a shell says of a program whose reader has closed the pipe. */
const READER_HAS_LEFT = 141;

function onError({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') process.exit(READER_HAS_LEFT);
  process.stderr.write(`slotgate: can't write the output: ${message}\n`);
  process.exit(1);
}

/** Ends a command whose output nobody reads any more: what it has not printed is neither proven nor refuted. */
export function endWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onError);
}

/** For a gateway, which goes on without a reader of its log. */
export function goOnWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) stream.off('error', onError);
}

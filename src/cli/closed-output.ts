/** 128 and the number of SIGPIPE: what a shell says of a program whose reader has closed the pipe. */
const READER_HAS_LEFT = 141;

const onError = ({ code }: NodeJS.ErrnoException): void => process.exit(code === 'EPIPE' ? READER_HAS_LEFT : 1);

/** Ends a command whose output nobody reads any more: what it has not printed is neither proven nor refuted. */
export function endWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onError);
}

/** For a gateway, which goes on without a reader of its log. */
export function goOnWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) stream.off('error', onError);
}

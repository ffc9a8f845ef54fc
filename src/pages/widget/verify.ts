/**
 * Checks the text of a frame, whose receipt is about that request: `SUB` and the target of the stream; or of the answer that the
 * skip rate is computed from: `GET` and its target. What it does not return or resolve to true for is not shown.
 */
export type Verify = (text: string, request: string) => boolean | Promise<boolean>;

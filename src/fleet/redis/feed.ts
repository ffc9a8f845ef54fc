/** A frame of the feed: its type (fleet/frames.ts) and its bytes. */
export interface FeedFrame {
  readonly type: number;
  readonly payload: Buffer;
}

/** What the leader's frames are told to, in their order. */
export interface FeedListener {
  /** All that the leader keeps at this point of its frames; `frame` goes on behind it. */
  joined(snapshot: readonly FeedFrame[]): void;
  frame(frame: FeedFrame): void;
  /** Nothing is known any more since `reason`; called before anything else is handled. */
  lost(reason: string): void;
}

export interface Feed {
  /** Sends frames to all followers, one message at the end of this turn of the event loop. */
  publish(frames: readonly FeedFrame[]): void;
  follow(listener: FeedListener): () => void;
  /** Sends a frame to the leader. */
  tell(frame: FeedFrame): void;
  onTold(hear: (member: string, frame: FeedFrame) => void): () => void;
}

/** By how much a prompt is too long for its model, and what can be done. Formats say it in their owner's words. */
export interface Overflow {
  /** What the model takes at most; absent = unknown. */
  readonly most?: number;
  /** What the prompt has; absent = unknown. */
  readonly prompt?: number;
  /** Tokens of output that are asked for and count too; absent = the prompt alone is too long. */
  readonly output?: number;
  /** What is counted; absent = tokens. */
  readonly unit?: 'messages';
  /** Details and advice; absent = the message of the error, which an upstream wrote. */
  readonly more?: string;
}

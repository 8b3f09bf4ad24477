import type { JsonObject } from '../kit/json/json.ts';
import type { EventBatch } from './events.ts';

export interface ErrorTexts {
  readonly message: string;
  readonly metadata: JsonObject | undefined;
}

/** Observes the bodies and events of upstream calls, independently of the stages that change them. */
export interface WireWatch {
  /** A rendered body, before it is sent; once for each attempt. */
  sent(body: JsonObject): void;
  /** Events that a leg passes on to the stages around it. */
  received(batch: EventBatch): void;
  /** The texts of an upstream's error as callers, records and logs may have them; the same object if all may pass. */
  passedError(texts: ErrorTexts): Promise<ErrorTexts>;
  /** The generation has ended, however it did. */
  ended(): void;
}

/** The text of a failure besides those of upstreams, as callers, records and logs may have it. */
export async function passedText(text: string, watch: WireWatch | undefined): Promise<string> {
  return watch === undefined
    ? text
    : (await watch.passedError({ message: text, metadata: undefined })).message;
}

import type { JsonObject } from '../kit/json/json.ts';
import type { EventBatch } from './events.ts';

/** Observes the bodies and events of upstream calls, independently of the stages that change them. */
export interface WireWatch {
  /** A rendered body, before it is sent; once for each attempt. */
  sent(body: JsonObject): void;
  /** Events that a leg passes on to the stages around it. */
  received(batch: EventBatch): void;
  /** The generation has ended, however it did. */
  ended(): void;
}

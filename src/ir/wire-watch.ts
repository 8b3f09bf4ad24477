import type { JsonObject } from '../kit/json/json.ts';
import type { EventBatch } from './events.ts';

/** Is shown what goes to upstreams for a request and what comes back, independently of the stages that change it. */
export interface WireWatch {
  /** A rendered body, before it is sent; once for each attempt. */
  sent(body: JsonObject): void;
  /** Events that a leg passes on to the stages around it. */
  received(batch: EventBatch): void;
  /** The generation has ended, however it did. */
  ended(): void;
}

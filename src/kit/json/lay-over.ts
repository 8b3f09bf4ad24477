import type { JsonObject } from './json.ts';
import { define } from './members.ts';

/** Sets the members of `source` in `target` itself: gathering with it costs no more the more was gathered before. */
export function layOver(target: JsonObject, source: JsonObject): void {
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined) define(target, name, value);
  }
}

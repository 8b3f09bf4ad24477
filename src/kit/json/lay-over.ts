import type { JsonObject } from './json.ts';
import { define } from './members.ts';

/** Sets the defined members of `source` in `target` itself: unlike a spread, this does not copy `target` each time. */
export function layOver(target: JsonObject, source: JsonObject): void {
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined) define(target, name, value);
  }
}

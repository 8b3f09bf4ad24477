import type { JsonObject } from '../../kit/json/json.ts';
import { textAt } from '../../kit/json/members.ts';
import { usdOf } from '../../kit/money.ts';

/** US dollars of a member with nano-dollars in decimal; undefined if there is none. */
export function costAt(object: JsonObject, name: string): number | undefined {
  const digits = textAt(object, name);
  return digits !== undefined && /^-?\d+$/.test(digits) ? usdOf(BigInt(digits)) : undefined;
}

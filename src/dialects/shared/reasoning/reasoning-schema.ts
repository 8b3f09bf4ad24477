import Type from 'typebox';
import type { Effort } from '../../../ir/settings.ts';
import type { Json } from '../../../kit/json/json.ts';
import { nullish, openOneOf } from '../../../kit/json/schema.ts';
import { MAX_REQUESTED_TOKENS } from '../requests/gateway-fields.ts';

/** Efforts that the responses and chat formats document. */
export const EFFORTS = [
  'max',
  'xhigh',
  'high',
  'medium',
  'low',
  'minimal',
  'none',
] as const satisfies Effort[];

export const reasoningSchema = Type.Object({
  effort: nullish(openOneOf(EFFORTS)),
  summary: nullish(openOneOf(['auto', 'concise', 'detailed'])),
  max_tokens: nullish(Type.Integer({ minimum: 1, maximum: MAX_REQUESTED_TOKENS })),
  enabled: nullish(Type.Boolean()),
  context: nullish(openOneOf(['auto', 'all_turns', 'current_turn'])),
  mode: nullish(openOneOf(['standard', 'pro'])),
  exclude: nullish(Type.Boolean()),
});

/** An effort that is known; other words stay in the body, for upstreams of the same format. */
export function knownEffort(word: Json | undefined): Effort | undefined {
  return EFFORTS.find((effort) => effort === word);
}

export const REASONING_FIELDS: ReadonlySet<string> = new Set(Object.keys(reasoningSchema.properties));

import type { JsonObject } from '../../kit/json/json.ts';
import { stringAt } from '../../kit/json/members.ts';
import { unwrapSeal, wrapSeal } from '../shared/reasoning/custody.ts';

/** Compaction items of the gateway: a summary that models of all upstreams can read. */

const SUMMARY_FORMAT = 'gateway-summary-v1';

export function summaryItem(id: string, summary: string): JsonObject {
  const encrypted = wrapSeal({ encrypted: summary, format: SUMMARY_FORMAT });
  return { id, type: 'compaction', encrypted_content: encrypted };
}

/** A message with the summary in an item of the gateway; undefined = any other item. */
export function ownSummary(item: JsonObject): readonly [JsonObject] | undefined {
  if (item.type !== 'compaction') return undefined;
  const { encrypted, format } = unwrapSeal(stringAt(item, 'encrypted_content') ?? '') ?? {};
  if (encrypted === undefined || format !== SUMMARY_FORMAT) return undefined;
  const text = `[Summary of the conversation so far]\n${encrypted}`;
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }];
}

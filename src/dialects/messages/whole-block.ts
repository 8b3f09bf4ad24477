import type { JsonObject } from '../../kit/json/json.ts';

/** Members that clients expect in a block of an answer, and upstreams may leave out. */
const BLOCK_DEFAULTS: ReadonlyMap<unknown, JsonObject> = new Map([
  ['text', { text: '', citations: [] }],
  ['thinking', { thinking: '', signature: '' }],
  ['tool_use', { input: {}, caller: { type: 'direct' } }],
]);

/** The block with every member that clients expect; the very same one when it lacks none. Null counts as absent. */
export function withBlockDefaults(block: JsonObject): JsonObject {
  const defaults = Object.entries(BLOCK_DEFAULTS.get(block.type) ?? {});
  const missing = defaults.filter(([name]) => block[name] === undefined || block[name] === null);
  return missing.length === 0 ? block : { ...block, ...Object.fromEntries(missing) };
}

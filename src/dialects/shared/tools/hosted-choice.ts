import type { Tool } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { SERVER_TOOL_NAMES } from '../requests/gateway-fields.ts';
import { familyOf, isMeant } from '../requests/semantics.ts';
import { isVendorType } from './additional-tools.ts';

/** Tools that providers or gateways run, without the versions of their types. */
const HOSTED_FAMILIES: ReadonlySet<string> = new Set([
  ...SERVER_TOOL_NAMES,
  'apply_patch',
  'computer_use',
  'file_search',
  'local_shell',
  'mcp',
]);

/**
 * True for a choice of a hosted tool: of a type that is known, or that a tool of the request has. Another one may mean
 * something to upstreams of the request's format.
 */
export function isHostedChoice(choice: JsonObject, tools: readonly Tool[]): boolean {
  const type = String(choice.type);
  return (
    isVendorType(type) || HOSTED_FAMILIES.has(familyOf(type)) || tools.some((tool) => isMeant(tool, choice))
  );
}

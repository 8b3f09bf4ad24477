import type { ToolCallItem, ToolKind } from '../ir/items.ts';
import type { GenerationRequest, Tool } from '../ir/request.ts';
import type { JsonObject } from '../kit/json.ts';

/**
 * Upstreams without namespaces and free-text tools get plain functions instead: the group becomes part of the name, a
 * free-text tool becomes a function with one string argument `input`. This is the map there and back.
 */

type CallableTool = Extract<Tool, { type: 'function' | 'custom' }>;

/** A tool as the caller knows it. */
export interface ToolIdentity {
  readonly kind: ToolKind;
  readonly name: string;
  readonly namespace?: string;
}

const MAX_NAME_LENGTH = 64;

/** The name under which a tool is known to an upstream that only has plain functions. */
export function flatToolName(name: string, namespace: string | undefined): string {
  const full = namespace === undefined ? name : `${namespace}__${name}`;
  const clean = full.replace(/[^a-zA-Z0-9_-]/g, '_');
  return clean.length <= MAX_NAME_LENGTH ? clean : clean.slice(clean.length - MAX_NAME_LENGTH);
}

/** Arguments schema of a free-text tool that is sent as a function. */
export function freeTextParameters(tool: Extract<Tool, { type: 'custom' }>): JsonObject {
  const grammar =
    tool.format === undefined || tool.format.type === 'text'
      ? ''
      : ` Must match: ${JSON.stringify(tool.format)}`;
  return {
    type: 'object',
    properties: { input: { type: 'string', description: `The tool's whole input.${grammar}` } },
    required: ['input'],
    additionalProperties: false,
  };
}

/** Finds the caller's tool behind a flat name; a name nobody declared is taken for a plain function. */
export function toolIdentities(
  request: Pick<GenerationRequest, 'tools'>,
): (flatName: string) => ToolIdentity {
  const byFlatName = new Map<string, ToolIdentity>();
  for (const tool of request.tools) {
    if (tool.type === 'hosted') continue;
    byFlatName.set(flatToolName(tool.name, tool.namespace?.name), identityOf(tool));
  }
  return (flatName) => byFlatName.get(flatName) ?? { kind: 'function', name: flatName };
}

function identityOf(tool: CallableTool): ToolIdentity {
  return tool.namespace === undefined
    ? { kind: tool.type, name: tool.name }
    : { kind: tool.type, name: tool.name, namespace: tool.namespace.name };
}

/** Arguments of a call as an upstream with plain functions takes them: JSON text. */
export function flatArguments(call: Pick<ToolCallItem, 'kind' | 'input'>): string {
  return call.kind === 'custom' ? JSON.stringify({ input: call.input }) : call.input;
}

/** The free text inside the arguments of a function that stands for a free-text tool. */
export function freeTextOf(argumentsText: string): string {
  try {
    const value = JSON.parse(argumentsText) as { input?: unknown };
    return typeof value.input === 'string' ? value.input : argumentsText;
  } catch {
    return argumentsText;
  }
}

import type { ToolCallItem, ToolKind } from '../../../ir/items.ts';
import type { CallableTool, GenerationRequest, Tool } from '../../../ir/request.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import { NamePool } from './name-pool.ts';

/**
 * Upstreams without namespaces and free-text tools get plain functions instead: the group becomes part of the name,
 * and a free-text tool becomes a function with one string argument `input`. This file maps names in both directions.
 */

/** A tool as the caller knows it. */
export interface ToolIdentity {
  readonly kind: ToolKind;
  readonly name: string;
  readonly namespace?: string;
}

const MAX_NAME_CHARACTERS = 64;

/** The name of a tool at an upstream that has only plain functions. */
export function flatToolName(name: string, namespace: string | undefined): string {
  const full = namespace === undefined ? name : `${namespace}__${name}`;
  const clean = full.replace(/[^a-zA-Z0-9_-]/g, '_');
  return clean.length <= MAX_NAME_CHARACTERS ? clean : clean.slice(clean.length - MAX_NAME_CHARACTERS);
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

/**
 * Names of a request's tools for an upstream with plain functions only, in both directions. No two tools share a name.
 */
export interface FlatNames {
  /** The upstream's name of a tool; an undeclared one is only cleaned. */
  nameOf(tool: ToolIdentity): string;
  /** The caller's tool for a name; an undeclared name is a plain function. */
  identify(flatName: string): ToolIdentity;
}

const FLAT_NAMES = new WeakMap<GenerationRequest['tools'], FlatNames>();

/** Names all tools of a request. The same tools always get the same names, so that an answer can be read back. */
export function flatNames({ tools }: Pick<GenerationRequest, 'tools'>): FlatNames {
  const known = FLAT_NAMES.get(tools);
  if (known !== undefined) return known;
  const names = nameTools(tools);
  FLAT_NAMES.set(tools, names);
  return names;
}

function nameTools(tools: GenerationRequest['tools']): FlatNames {
  const names = new Map<string, string>();
  const identities = new Map<string, ToolIdentity>();
  const pool = new NamePool(
    tools.flatMap((tool) => (tool.type === 'hosted' ? (tool.value.name ?? []) : [])),
    MAX_NAME_CHARACTERS,
  );
  const take = (tool: ToolIdentity, flatName: string) => {
    const key = keyOf(tool);
    if (names.has(key)) return;
    const name = pool.take(flatName);
    names.set(key, name);
    identities.set(name, tool);
  };
  const others: [ToolIdentity, string][] = [];
  for (const tool of tools) {
    if (tool.type === 'hosted') continue;
    const identity = identityOf(tool);
    const flatName = flatToolName(identity.name, identity.namespace);
    // A tool whose name needs no change keeps it, even if the changed name of another is the same.
    if (identity.namespace === undefined && flatName === identity.name) take(identity, flatName);
    else others.push([identity, flatName]);
  }
  for (const [identity, flatName] of others) take(identity, flatName);
  return {
    nameOf: (tool) => names.get(keyOf(tool)) ?? flatToolName(tool.name, tool.namespace),
    identify: (name) => identities.get(name) ?? { kind: 'function', name },
  };
}

export function toolIdentities(
  request: Pick<GenerationRequest, 'tools'>,
): (flatName: string) => ToolIdentity {
  return flatNames(request).identify;
}

/** Unique key of a tool: the length marks the end of the namespace. */
export function keyOf({ kind, name, namespace }: ToolIdentity): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind}${namespace.length} ${namespace}${name}`;
}

export function identityOf(tool: CallableTool): ToolIdentity {
  return tool.namespace === undefined
    ? { kind: tool.type, name: tool.name }
    : { kind: tool.type, name: tool.name, namespace: tool.namespace.name };
}

/** The flat name of the chosen tool; of tools with one name the one of its kind. */
export function nameOfChosen(
  { kind, name }: Pick<ToolIdentity, 'kind' | 'name'>,
  { tools }: Pick<GenerationRequest, 'tools'>,
  names: Pick<FlatNames, 'nameOf'>,
): string {
  const named = tools.filter((tool) => tool.type !== 'hosted').filter((tool) => tool.name === name);
  const chosen = named.find((tool) => tool.type === kind) ?? named[0];
  return names.nameOf(chosen === undefined ? { kind, name } : identityOf(chosen));
}

/** Arguments of a call for an upstream with plain functions: JSON text. */
export function flatArguments(call: Pick<ToolCallItem, 'kind' | 'input'>): string {
  return call.kind === 'custom' ? JSON.stringify({ input: call.input }) : call.input;
}

/** Input of a function that was called without arguments: JSON text. */
export const NO_ARGUMENTS = '{}';

/** The free text inside the arguments of a function that stands for a free-text tool. */
export function freeTextOf(argumentsText: string): string {
  try {
    const value = JSON.parse(argumentsText) as { input?: unknown };
    return typeof value.input === 'string' ? value.input : argumentsText;
  } catch {
    return argumentsText;
  }
}

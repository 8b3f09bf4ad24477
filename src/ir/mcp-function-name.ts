/** Longest name of a function that all upstreams take. */
const MAX_CHARACTERS = 64;

/** The function by which a model calls a tool of an MCP server. */
export function mcpFunctionName(label: string, tool: string): string {
  return `${label}__${tool}`.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_CHARACTERS);
}

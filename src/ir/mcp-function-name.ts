/** Longest name of a function that all upstreams take. */
const MAX_CHARACTERS = 64;

/** A tool of an MCP server among those of others: in records, and for MCP clients of the gateway. */
export function mcpToolName(label: string, tool: string): string {
  return `${label}__${tool}`;
}

export function mcpFunctionName(label: string, tool: string): string {
  return mcpToolName(label, tool)
    .replace(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, MAX_CHARACTERS);
}

/** The server and the tool in a name that `mcpToolName` made; undefined for other names. */
export function mcpToolIn(name: string): { readonly label: string; readonly tool: string } | undefined {
  const at = name.indexOf('__');
  return at < 1 ? undefined : { label: name.slice(0, at), tool: name.slice(at + 2) };
}

import { isJsonObject, type JsonObject } from '../../kit/json/json.ts';
import { METHOD_HEADER, NAME_HEADER, STATELESS_VERSION, VERSION_HEADER } from '../protocol.ts';

/** Name and version by which the gateway introduces itself. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/** Members of `_meta` with which each request introduces the client. */
const META = 'io.modelcontextprotocol/';

/** What comes before the name of an argument in the header that repeats its value. */
const ARGUMENT_HEADER = 'mcp-param-';

/** Member of a property of a schema that names such a header. */
const HEADER_MEMBER = 'x-mcp-header';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;

/** Characters of one value in a header. A longer one is left out, and its server refuses the call. */
const MAX_VALUE_CHARACTERS = 4096;

/** Properties below each other in which arguments with a header are looked for. */
const MAX_DEPTH = 16;

export function statelessParams(params: JsonObject, clientInfo: ClientInfo): JsonObject {
  const introduction = {
    [`${META}protocolVersion`]: STATELESS_VERSION,
    [`${META}clientInfo`]: { ...clientInfo },
    [`${META}clientCapabilities`]: {},
  };
  const meta = isJsonObject(params._meta) ? params._meta : {};
  return { ...params, _meta: { ...meta, ...introduction } };
}

/**
 * The headers of a request, which repeat parts of its body. `inputSchema`: the arguments of the called tool, some of
 * which may have headers of their own.
 */
export function statelessHeaders(
  method: string,
  { name, arguments: given }: JsonObject,
  inputSchema: JsonObject = {},
): Readonly<Record<string, string>> {
  return {
    [VERSION_HEADER]: STATELESS_VERSION,
    [METHOD_HEADER]: method,
    ...(typeof name === 'string' && { [NAME_HEADER]: headerValue(name) }),
    ...(isJsonObject(given) && argumentHeaders(given, inputSchema, MAX_DEPTH)),
  };
}

function argumentHeaders(
  given: JsonObject,
  { properties }: JsonObject,
  depth: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (!isJsonObject(properties) || depth === 0) return headers;
  for (const [name, schema] of Object.entries(properties)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (!isJsonObject(schema) || value === undefined) continue;
    if (isJsonObject(value)) Object.assign(headers, argumentHeaders(value, schema, depth - 1));
    const header = schema[HEADER_MEMBER];
    const text = textOf(value);
    if (typeof header !== 'string' || !TOKEN.test(header) || text === undefined) continue;
    headers[`${ARGUMENT_HEADER}${header.toLowerCase()}`] = headerValue(text);
  }
  return headers;
}

/** The value of an argument as text; undefined = such a value has no header. */
function textOf(value: unknown): string | undefined {
  const isShown = typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
  const text = String(value);
  return isShown && text.length <= MAX_VALUE_CHARACTERS ? text : undefined;
}

/** Text that a header can hold as it is; what looks like an encoded value is no such text. */
const PLAIN = /^(?!=\?base64\?)[!-~](?:[\t -~]*[!-~])?$/;

function headerValue(text: string): string {
  return PLAIN.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

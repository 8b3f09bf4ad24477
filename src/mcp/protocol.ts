import { isJsonObject, type Json, type JsonObject } from '../kit/json/json.ts';

/** The Model Context Protocol, as far as client and server need it: JSON-RPC 2.0 over streamable HTTP. */

/** Versions with `initialize`, which the gateway speaks as client and as server, newest first. */
export const PROTOCOL_VERSIONS: readonly [string, ...string[]] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
];

/**
 * The version without `initialize` and sessions, which the gateway speaks as client: each request says which version it
 * is of and who sends it.
 */
export const STATELESS_VERSION = '2026-07-28';

/** Names of headers, in lower case. The last two are of the version without sessions. */
export const SESSION_HEADER = 'mcp-session-id';
export const VERSION_HEADER = 'mcp-protocol-version';
export const METHOD_HEADER = 'mcp-method';
export const NAME_HEADER = 'mcp-name';

export const RPC_ERRORS = {
  unsupportedVersion: -32_022,
  parse: -32_700,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
} as const;

export type RpcId = string | number;

export type RpcMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'result'; readonly id: RpcId; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly id: RpcId | null; readonly error: RpcFault };

export interface RpcFault {
  readonly code: number;
  readonly message: string;
  /** Versions that the server speaks, if it refused that of the request. */
  readonly supported: readonly string[];
}

export function readMessage(value: Json | undefined): RpcMessage | undefined {
  if (!isJsonObject(value) || value.jsonrpc !== '2.0') return undefined;
  const { id, method, params, result, error } = value;
  const hasId = typeof id === 'string' || typeof id === 'number';
  if (typeof method === 'string') {
    const given = isJsonObject(params) ? params : {};
    if (hasId) return { kind: 'request', id, method, params: given };
    return id === undefined ? { kind: 'notification', method, params: given } : undefined;
  }
  if (hasId && isJsonObject(result)) return { kind: 'result', id, result };
  if (!isJsonObject(error) || !(hasId || id === null || id === undefined)) return undefined;
  return { kind: 'error', id: hasId ? id : null, error: readFault(error) };
}

export function readFault({ code, message, data }: JsonObject): RpcFault {
  const supported = isJsonObject(data) ? data.supported : undefined;
  return {
    code: typeof code === 'number' ? code : RPC_ERRORS.internal,
    message: typeof message === 'string' ? message : '',
    supported: Array.isArray(supported) ? supported.filter((each) => typeof each === 'string') : [],
  };
}

export function rpcRequest(id: RpcId, method: string, params: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, method, params };
}

export function rpcNotification(method: string, params: JsonObject = {}): JsonObject {
  return { jsonrpc: '2.0', method, params };
}

export function rpcResult(id: RpcId, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result };
}

export function rpcError(id: RpcId | null, code: number, message: string, data?: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}

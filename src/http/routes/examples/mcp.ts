import type { RouteExample } from '../../route.ts';

/** Messages of an MCP client. */
export const MCP_EXAMPLES = {
  sendMcpMessage: {
    body: { jsonrpc: '2.0', id: 1, method: 'ping' },
    otherBodies: {
      'The tools of the key': { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} },
      'A notification': { jsonrpc: '2.0', method: 'notifications/initialized' },
    },
    answer: { jsonrpc: '2.0', id: 1, result: {} },
  },
} as const satisfies Record<string, RouteExample>;

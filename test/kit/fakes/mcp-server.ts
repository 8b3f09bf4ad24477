import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../../src/kit/json/json.ts';

/** A message as it came, with its headers. */
export interface McpMessage {
  readonly method: string;
  readonly id?: number;
  readonly params: JsonObject;
  readonly headers: IncomingMessage['headers'];
}

/** What a fake server does; a result of an object is sent as JSON. */
export interface McpBehaviour {
  /** Tools, or a page of them for a cursor. */
  tools?(cursor: string | undefined): JsonObject | Promise<JsonObject>;
  /** The result of a call; undefined = the reply was written by the function itself. */
  call?(
    message: McpMessage,
    response: ServerResponse,
  ): JsonObject | undefined | Promise<JsonObject | undefined>;
  /** Version that it answers with; that of the request by default. */
  readonly version?: string | undefined;
  /** It speaks only the version without sessions, and is strict about it. */
  readonly isStateless?: boolean | undefined;
  /** Replies are event streams. */
  readonly streams?: boolean | undefined;
  /** Streams stay open after the reply. */
  readonly neverEnds?: boolean | undefined;
  /** Messages get no reply. */
  readonly hangs?: boolean | undefined;
  /** Error of a reply with status 400, instead of any other. */
  refusal?(message: McpMessage): JsonObject | undefined;
  /** Status instead of any reply. */
  status?(message: McpMessage): number | undefined;
}

export interface FakeMcpServer {
  readonly url: string;
  readonly port: number;
  /** All messages, requests and notifications, in order. */
  readonly messages: McpMessage[];
  /** Sessions that exist. */
  readonly sessions: Set<string>;
  behaviour: McpBehaviour;
  close(): Promise<void>;
}

export const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...more,
});

/** A server of the Model Context Protocol on this machine, whose mistakes are its behaviour. */
export async function openMcpServer(given: McpBehaviour = {}): Promise<FakeMcpServer> {
  const messages: McpMessage[] = [];
  const sessions = new Set<string>();
  let made = 0;
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeMcpServer = {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    messages,
    sessions,
    behaviour: given,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = request.headers['mcp-session-id'];
    if (request.method === 'DELETE') {
      sessions.delete(String(session));
      response.writeHead(200).end();
      return;
    }
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method = '', id, params = {} } = JSON.parse(text);
    const message = { method, id, params, headers: request.headers };
    messages.push(message);
    if (fake.behaviour.hangs === true) return;
    const status = fake.behaviour.status?.(message);
    if (status !== undefined) {
      response.writeHead(status).end();
      return;
    }
    const { isStateless = false } = fake.behaviour;
    const error = fake.behaviour.refusal?.(message) ?? (isStateless ? statelessFault(message) : undefined);
    if (error !== undefined) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error }));
      return;
    }
    if (!isStateless && method !== 'initialize' && !sessions.has(String(session))) {
      response.writeHead(404).end();
      return;
    }
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const result = await resultOf(message, response);
    if (result === undefined) return;
    const kind = isStateless ? { resultType: 'complete' } : {};
    reply(response, { jsonrpc: '2.0', id, result: { ...kind, ...result } });
  }

  async function resultOf(message: McpMessage, response: ServerResponse): Promise<JsonObject | undefined> {
    const { behaviour } = fake;
    if (message.method === 'initialize') {
      const session = `session-${++made}`;
      sessions.add(session);
      response.setHeader('mcp-session-id', session);
      return {
        protocolVersion: behaviour.version ?? (message.params.protocolVersion as string),
        capabilities: { tools: {} },
        serverInfo: { name: 'fake', version: '1' },
      };
    }
    if (message.method === 'tools/list') {
      return behaviour.tools?.(message.params.cursor as string | undefined) ?? { tools: [tool('echo')] };
    }
    if (behaviour.call !== undefined) return behaviour.call(message, response);
    return { content: [{ type: 'text', text: JSON.stringify(message.params.arguments) }] };
  }

  function reply(response: ServerResponse, body: JsonObject): void {
    if (fake.behaviour.streams !== true) {
      response.setHeader('content-type', 'application/json');
      response.writeHead(200).end(JSON.stringify(body));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: message\ndata: ${JSON.stringify(body)}\n\n`);
    if (fake.behaviour.neverEnds !== true) response.end();
  }

  return fake;
}

/** What is wrong with a message for a server of the version without sessions; undefined = nothing. */
function statelessFault({ method, params, headers }: McpMessage): JsonObject | undefined {
  const version = '2026-07-28';
  const meta = (params._meta ?? {}) as JsonObject;
  const asked = meta['io.modelcontextprotocol/protocolVersion'];
  if (asked !== version) {
    const data = { supported: [version] };
    return { code: -32_022, message: `Unsupported protocol version: ${asked ?? 'none'}`, data };
  }
  if (meta['io.modelcontextprotocol/clientCapabilities'] === undefined) {
    return { code: -32_602, message: 'no capabilities of the client' };
  }
  const expected = {
    'mcp-protocol-version': version,
    'mcp-method': method,
    'mcp-session-id': undefined,
    ...(params.name !== undefined && { 'mcp-name': params.name }),
  };
  const wrong = Object.entries(expected).find(([name, value]) => headers[name] !== value)?.[0];
  return wrong === undefined ? undefined : { code: -32_020, message: `the header ${wrong} differs` };
}

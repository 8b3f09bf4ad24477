import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';

/**
 * The least that a gateway on node:http and undici can do: read a request, parse it, send it on, and pass the answer
 * back as it comes. `bare-proxy.js UPSTREAM_PORT` says `listening PORT`.
 */
const upstream = new Pool(`http://127.0.0.1:${process.argv[2]}`, { connections: null, pipelining: 1 });

function forward(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => send(request, JSON.parse(Buffer.concat(chunks).toString('utf8')), response));
}

function send(request: IncomingMessage, body: unknown, response: ServerResponse): void {
  upstream.dispatch(
    {
      method: 'POST',
      path: request.url ?? '/',
      headers: { 'content-type': 'application/json', authorization: request.headers.authorization ?? '' },
      body: JSON.stringify(body),
    },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, status, headers) => {
        response.statusCode = status;
        for (const name of ['content-type', 'content-length'])
          if (headers[name] !== undefined) response.setHeader(name, headers[name]);
      },
      onResponseData: (_controller, chunk) => response.write(chunk),
      onResponseEnd: () => response.end(),
      onResponseError: () => response.destroy(),
    },
  );
}

const server = createServer(forward);
server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`));

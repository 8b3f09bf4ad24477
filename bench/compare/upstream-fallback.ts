import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ANSWERS, type AnswerName, PACE_MS } from './lanes.ts';
import { answerPieces, UPSTREAM_DIALECTS } from './upstream-answers.ts';

// What upstream.c is, in Node, for machines without a compiler: the same answers, with less headroom.

/** The pieces of each answer, by path and marker. */
const answers = new Map(
  UPSTREAM_DIALECTS.flatMap((dialect) =>
    (Object.keys(ANSWERS) as AnswerName[]).map((name) => [
      `${dialect.path} ${name}`,
      answerPieces(dialect, name),
    ]),
  ),
);

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const name = /"bench-([a-z0-9]+)"/.exec(Buffer.concat(chunks).toString('latin1'))?.[1] as AnswerName;
  const path = UPSTREAM_DIALECTS.find((dialect) => request.url?.includes(dialect.path))?.path;
  const found = answers.get(`${path} ${name}`);
  if (found === undefined) {
    response.writeHead(400).end('{"error":{"message":"no such path, or no marker in the body"}}');
    return;
  }
  if (ANSWERS[name].streams) stream(name, found, response);
  else response.writeHead(200, { 'content-type': 'application/json' }).end(found[0]);
}

function stream(name: AnswerName, found: readonly string[], response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(found[0]);
  if (name === 'burst') response.end();
  if (name !== 'paced') return;
  let next = 1;
  const timer = setInterval(() => {
    response.write(found[next++]);
    if (next === found.length) response.end();
  }, PACE_MS);
  response.once('close', () => clearInterval(timer));
}

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.listen({ port: Number(process.argv[2]), host: '127.0.0.1', backlog: 4096 }, () =>
  console.log(`listening ${(server.address() as AddressInfo).port}`),
);

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver of OTLP that only notes which generations have come. */
export interface SpanCounter {
  readonly endpoint: string;
  /** Ids of generations that were taken. */
  readonly taken: ReadonlySet<string>;
  /** Generations that were taken, those taken twice counted twice. */
  readonly count: () => number;
  /** Requests that were taken, and their bytes. */
  readonly figures: { requests: number; bytes: number };
  /** Whether it answers 503 from now on. */
  setAway(isAway: boolean): void;
  close(): Promise<void>;
}

/** What stands before the id of a generation in its first span, in protobuf: the key, and the tag of a text. */
const ID = /signalbox\.generation\.id.{1,8}?(gen-[\w-]+)/gs;

export async function openSpanCounter(): Promise<SpanCounter> {
  const taken = new Set<string>();
  const figures = { requests: 0, bytes: 0 };
  let count = 0;
  let isAway = false;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (isAway) {
        response.writeHead(503).end();
        return;
      }
      const body = Buffer.concat(chunks);
      figures.requests += 1;
      figures.bytes += body.length;
      for (const [, id] of body.toString('latin1').matchAll(ID)) {
        taken.add(id as string);
        count += 1;
      }
      response.writeHead(200).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    count: () => count,
    figures,
    setAway(now) {
      isAway = now;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

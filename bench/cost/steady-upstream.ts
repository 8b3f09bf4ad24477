import { createServer } from 'node:net';
import { answerPieces, UPSTREAM_DIALECTS } from '../compare/upstream-answers.ts';

/** How an answer comes: whole, or as a stream of 100 events, one packet for each or one for all. */
export type Delivery = 'whole' | 'stream' | 'burst';

/** Name of the upstream's model that answers so. */
export const steadyModel = (delivery: Delivery): string => `steady-${delivery}`;

const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

const answers = new Map<string, readonly Buffer[]>(
  UPSTREAM_DIALECTS.flatMap((dialect) => {
    const whole = answerPieces(dialect, '2k')[0] ?? '';
    const events = answerPieces(dialect, 'paced');
    return [
      [`${dialect.path} ${steadyModel('whole')}`, [wholeAnswer(whole)]],
      [`${dialect.path} ${steadyModel('stream')}`, chunks(events)],
      [`${dialect.path} ${steadyModel('burst')}`, chunks([events.join('')])],
    ] as const;
  }),
);

function wholeAnswer(body: string): Buffer {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  return Buffer.from(`${head}\r\n\r\n${body}`);
}

function chunks(events: readonly string[]): Buffer[] {
  return events.map((text, index) => {
    const chunk = `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
    const isLast = index === events.length - 1;
    return Buffer.from(`${index === 0 ? STREAM_HEAD : ''}${chunk}${isLast ? '0\r\n\r\n' : ''}`);
  });
}

/**
 * An upstream that writes each packet at once and in one piece, and the next one of a stream only when it is asked for:
 * packets cannot merge, however slow the reader is.
 */
export interface SteadyUpstream {
  readonly port: number;
  /** Writes the next packet of the answer under way. */
  next(): void;
  close(): void;
}

export async function openSteadyUpstream(): Promise<SteadyUpstream> {
  let next = () => {};
  const server = createServer({ noDelay: true }, (socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
      const head = text.indexOf('\r\n\r\n') + 4;
      if (head < 4 || text.length < head + Number(/content-length: (\d+)/i.exec(text)?.[1])) return;
      const path = UPSTREAM_DIALECTS.find((dialect) => text.slice(0, head).includes(dialect.path))?.path;
      const packets = answers.get(`${path} ${/"(steady-[a-z]+)"/.exec(text)?.[1]}`)?.values();
      text = '';
      next = () => {
        const packet = packets?.next();
        if (packet?.done === false) socket.write(packet.value);
      };
      next();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    next: () => next(),
    close: () => server.close(),
  };
}

import { Readable } from 'node:stream';
import type { InboundRequest } from './inbound-request.ts';

/** The body of a request as a stream, for what reads only those. A body that is cut off does not end. */
export function bodyStream(request: InboundRequest): Readable {
  let isRead = false;
  const stream: Readable = new Readable({
    read() {
      if (isRead) {
        request.readOn();
        return;
      }
      isRead = true;
      request.read({
        piece: (bytes) => stream.push(bytes),
        end: () => stream.push(null),
        cut: () => {},
      });
    },
  });
  return stream;
}

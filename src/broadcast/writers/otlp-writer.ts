import { SharedTurn } from '../../kit/loop/turns.ts';
import type { OtlpTarget } from '../destination-target.ts';
import { encodeTraces } from '../encode-traces.ts';
import { rejectedSpans } from '../otlp/rejected-spans.ts';
import type { Write, WriterDependencies } from './writer.ts';

/** Writes to a receiver of OTLP/HTTP: one request for all generations. */
export function otlpWriter(
  { url, method, encoding, headers, resource, metadataPrefix }: OtlpTarget,
  { send, sent, version, onRejected }: WriterDependencies,
): Write {
  const parts = metadataPrefix === undefined ? sent : { ...sent, metadataPrefix };
  const options = { sent: parts, version, resource };
  return async (generations, signal) => {
    const traces = encodeTraces(generations, options, encoding);
    const { body, contentType } = await new SharedTurn(signal).run(traces);
    const reply = await send(
      url,
      { method, headers: { ...headers, 'content-type': contentType }, body },
      signal,
    );
    const rejected = rejectedSpans(reply.bytes, reply.headers['content-type'] ?? '');
    if (rejected > 0) onRejected(rejected);
  };
}

import type { UpstreamDialect } from '../dialects/dialect.ts';
import type { DialectName } from '../ir/items.ts';
import type { TranslationEntry } from '../ir/metadata.ts';
import { dialectOf, renderCall } from './call.ts';
import type { UpstreamCall } from './upstream.ts';

/** A call that is not going to be made. */
export type PreviewCall = Pick<UpstreamCall, 'request' | 'endpoint' | 'lane'>;

/** What would be lost or changed on the way to an endpoint. Nothing is sent, nothing that is rendered is kept. */
export function previewCall(
  call: PreviewCall,
  dialects: Readonly<Partial<Record<DialectName, UpstreamDialect>>>,
): readonly TranslationEntry[] {
  const dialect = dialects[dialectOf(call.endpoint.provider, call.request.format)];
  if (dialect === undefined) return [];
  return renderCall({ ...call, hashUser: (id) => id }, dialect, call.endpoint.upstreamModel).report;
}

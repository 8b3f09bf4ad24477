import type { Dialects } from '../../dialects/dialects.ts';
import { dialectOfCall } from '../../dialects/lane.ts';
import type { TranslationEntry } from '../../ir/metadata.ts';
import { nextTurn } from '../../kit/loop/turns.ts';
import type { UpstreamCall } from '../upstream.ts';
import { renderCall } from './call.ts';

/** A call that is not going to be made. */
export type PreviewCall = Pick<UpstreamCall, 'request' | 'endpoint' | 'lane' | 'paid'>;

/** Losses and changes on the way to an endpoint. Nothing is sent, and the rendered request is dropped. */
export async function previewCall(
  call: PreviewCall,
  dialects: Partial<Dialects>,
): Promise<readonly TranslationEntry[]> {
  const dialect = dialects[dialectOfCall(call.endpoint, call.request.format, call.lane)];
  if (dialect === undefined) return [];
  await nextTurn();
  return renderCall({ ...call, hashUser: (id) => id }, dialect, call.endpoint.upstreamModel).report;
}

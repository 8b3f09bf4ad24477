import { DIALECTS } from '../../dialects/dialects.ts';
import { Report } from '../../dialects/shared/report/report.ts';
import type { DialectName, Item } from '../../ir/items.ts';
import { NO_ENTRIES, type TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';

/**
 * The request with a call and a result in the place of each item of a hosted tool that the upstream's dialect does not
 * have: its model then sees what was asked, and what the item shows of the result.
 */
export function withForeignCalls(
  request: GenerationRequest,
  dialect: string,
): { readonly request: GenerationRequest; readonly report: readonly TranslationEntry[] } {
  const { items, places } = request;
  const isForeign = (name: DialectName) => name !== dialect;
  if (!items.some((item) => item.type === 'opaque' && isForeign(item.dialect))) {
    return { request, report: NO_ENTRIES };
  }
  const report = new Report(request);
  const replaced = items.flatMap((item): readonly Item[] => {
    if (item.type !== 'opaque' || !isForeign(item.dialect)) return [item];
    const call = DIALECTS[item.dialect].inbound?.callOfItem?.(item.value);
    if (call === undefined) return [item];
    report.coerced(report.place(item, 'items'), 'became a call and what the item shows of its result');
    const place = places.of(item);
    return place === undefined ? call : call.map((each) => places.put(each, place));
  });
  return { request: { ...request, items: replaced }, report: report.entries };
}

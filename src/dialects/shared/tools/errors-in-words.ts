import type { Item, ToolResultItem } from '../../../ir/items.ts';
import type { Report } from '../report/report.ts';

/** Results of failed tools for upstreams that have no field for a failure: a text before the result says so. */
export function errorsInWords(items: readonly Item[], report: Report): readonly Item[] {
  if (!items.some(isFailed)) return items;
  return items.map((item) => (isFailed(item) ? inWords(item, report) : item));
}

function isFailed(item: Item): item is ToolResultItem {
  return item.type === 'tool-result' && item.isError === true;
}

function inWords(item: ToolResultItem, report: Report): ToolResultItem {
  report.coerced(report.place(item, 'items', 'is_error'), 'became part of the text of the result');
  const { isError: _mark, ...rest } = item;
  return report.standIn({ ...rest, content: [{ type: 'text', text: FAILED }, ...item.content] }, item);
}

/** Text before the result. */
const FAILED = 'The tool failed.';

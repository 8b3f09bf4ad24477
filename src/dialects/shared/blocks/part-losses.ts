import type { MessageItem, Part } from '../../../ir/items.ts';
import type { JsonObject } from '../../../kit/json/json.ts';
import type { Report } from '../report/report.ts';

/** Members of messages and parts that only the responses format has. `detail`: why they are not sent. */

export function reportPhase(item: MessageItem, report: Report, detail: string): void {
  if (item.phase !== undefined) report.dropped(report.place(item, 'items', 'phase'), detail);
}

export function reportTextMembers(
  part: Extract<Part, { type: 'text' }>,
  report: Report,
  detail: string,
): void {
  for (const member of ['annotations', 'logprobs'] as const) {
    if ((part[member]?.length ?? 0) > 0) report.dropped(report.place(part, 'items', member), detail);
  }
}

export function reportImageDetail(
  part: Extract<Part, { type: 'image' }>,
  report: Report,
  detail: string,
): void {
  if (part.detail === undefined || part.detail === 'auto') return;
  report.dropped(report.place(part, 'items', report.form.paths.inPart('image_url', 'detail')), detail);
}

export const IMAGE_AS_TEXT = 'an image given as text';

/** Report detail of an image in an earlier answer. */
export const MADE_IMAGE = 'an image that a model made: assistant turns take none';

export function foreignType(value: JsonObject): string {
  return `of type ${JSON.stringify(value.type ?? null)} of another format`;
}

import type { GenerationRequest } from '../ir/request.ts';
import { isJsonObject } from '../kit/json.ts';
import type { Report } from './report.ts';

/** Why a field that no contract knows does not go out. */
export const UNDOCUMENTED = 'nobody documents it: passed on only to upstreams of the same format';

/** Whether a field asks for anything: an empty object does not. */
export function isSaid(value: unknown): boolean {
  return value !== undefined && !(isJsonObject(value) && Object.keys(value).length === 0);
}

/** What the responses format may ask to have included and every answer of other dialects includes anyway. */
const ALWAYS_INCLUDED = 'reasoning.encrypted_content';

/** Tells what an answer will not include although it was asked for. */
export function reportLostIncludes({ include = [] }: GenerationRequest, report: Report): void {
  const lost = [...include.keys()].filter((index) => include[index] !== ALWAYS_INCLUDED);
  if (lost.length === 0) return;
  const field = report.name('include');
  const places = lost.length === include.length ? [field] : lost.map((index) => `${field}[${index}]`);
  for (const place of places) report.dropped(place, 'the upstream has nothing of that kind to include');
}

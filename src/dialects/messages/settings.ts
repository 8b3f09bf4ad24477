import type { Sampling } from '../../ir/settings.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import { numberAt } from '../../kit/json/members.ts';
import { SettingTable } from '../shared/requests/setting-table.ts';

/** Sampling settings of the messages format. */
export const SAMPLING = new SettingTable<Sampling>({
  temperature: ['temperature', numberAt],
  topP: ['top_p', numberAt],
  topK: ['top_k', numberAt],
  stop: ['stop_sequences', stopsAt],
});

function stopsAt(body: JsonObject, name: string): string[] | undefined {
  const stops = body[name];
  return Array.isArray(stops) ? (stops as string[]) : undefined;
}

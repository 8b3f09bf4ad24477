import type { JsonObject } from '../kit/json/json.ts';
import { numberAt, textAt } from '../kit/json/members.ts';
import type { PipelineEntry } from './metadata.ts';

/** Names of the plugins that look at the web, as requests and pipelines have them. */
export const WEB = 'web';
export const WEB_FETCH = 'web-fetch';

export interface SearchNote {
  readonly summary: string;
  readonly engine: string;
  /** Absent if the upstream searches by itself. */
  readonly results?: number | undefined;
  /** Absent if the gateway did not search. */
  readonly costUsd?: number | undefined;
  /** Why there are no results. */
  readonly problem?: string | undefined;
  /** Members of the plugin that the engine does not take. */
  readonly ignored: readonly string[];
}

export function searchNote({
  summary,
  engine,
  results,
  costUsd,
  problem,
  ignored,
}: SearchNote): PipelineEntry {
  const data: JsonObject = { engine };
  if (results !== undefined) data.results = results;
  if (problem !== undefined) data.error = problem;
  if (ignored.length > 0) data.ignored = [...ignored];
  return { type: 'plugin', name: WEB, summary, data, ...(costUsd !== undefined && { cost_usd: costUsd }) };
}

/** Report of the web-fetch plugin about the pages of a request. */
export function fetchNote(
  summary: string,
  {
    fetches,
    failed,
    errors,
  }: { readonly fetches: number; readonly failed: number; readonly errors: readonly string[] },
): PipelineEntry {
  const data: JsonObject = { fetches, failed };
  if (errors.length > 0) data.errors = [...errors];
  return { type: 'plugin', name: WEB_FETCH, summary, data };
}

/** Report of the web-fetch plugin that the model fetches pages itself, by a tool. */
export function fetchToolNote(tool: string): PipelineEntry {
  const summary = 'The model may fetch pages itself';
  return { type: 'plugin', name: WEB_FETCH, summary, data: { tool } };
}

/** The engine that searched and what it found, for records; undefined if none did. */
export function notedSearch(
  notes: readonly PipelineEntry[],
): { readonly engine: string; readonly results: number | undefined } | undefined {
  const data = dataOf(notes, WEB);
  const engine = textAt(data, 'engine');
  return engine === undefined ? undefined : { engine, results: numberAt(data, 'results') };
}

/** Searches that the gateway ran for the plugin. */
export function notedSearches(notes: readonly PipelineEntry[]): number {
  return notes.filter(
    ({ type, name, cost_usd }) => type === 'plugin' && name === WEB && cost_usd !== undefined,
  ).length;
}

/** Pages that were fetched, for records; undefined if none was asked for. */
export function notedFetches(notes: readonly PipelineEntry[]): number | undefined {
  return numberAt(dataOf(notes, WEB_FETCH), 'fetches');
}

function dataOf(notes: readonly PipelineEntry[], plugin: string): JsonObject | undefined {
  return notes.find(({ type, name }) => type === 'plugin' && name === plugin)?.data;
}

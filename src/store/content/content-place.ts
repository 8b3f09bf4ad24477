/** Where the content of a generation is kept: a folder for each day, a file for each generation. */
export interface ContentPlace {
  /** `2026-09-27`, in UTC. */
  readonly day: string;
  readonly file: string;
}

/** Ids that the gateway makes: they begin with the second in which the request came in. */
const GENERATION_ID = /^gen-(\d{1,11})-[0-9A-Za-z]{1,64}$/;
const ENDING = '.json.gz';
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/** The place of a generation; undefined for what is no id of one. */
export function contentPlace(generationId: string): ContentPlace | undefined {
  const seconds = GENERATION_ID.exec(generationId)?.[1];
  if (seconds === undefined) return undefined;
  return { day: dayOf(Number(seconds) * 1000), file: generationId + ENDING };
}

/** Whether a folder is one of a day. */
export function isDay(name: string): boolean {
  return DAY.test(name);
}

/** When the generation of a file came in, epoch milliseconds; undefined for what is no file of one. */
export function fileMoment(file: string): number | undefined {
  if (!file.endsWith(ENDING)) return undefined;
  const seconds = GENERATION_ID.exec(file.slice(0, -ENDING.length))?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** When a day begins and the next one does, epoch milliseconds. */
export function spanOf(day: string): { readonly beginMs: number; readonly endMs: number } {
  const beginMs = Date.parse(`${day}T00:00:00Z`);
  return { beginMs, endMs: beginMs + DAY_MS };
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

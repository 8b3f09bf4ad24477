/** Path of a generation's content: a folder for each day, a file for each generation. */
export interface ContentPath {
  /** `2026-09-27`, in UTC. */
  readonly day: string;
  readonly file: string;
}

/** Ids of the gateway contain the second in which the request arrived. */
const GENERATION_ID = /^gen-(\d{1,11})-[0-9A-Za-z]{1,64}$/;
const ENDING = '.json.gz';
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/** The path of a generation's content; undefined for other ids. */
export function contentPath(generationId: string): ContentPath | undefined {
  const seconds = GENERATION_ID.exec(generationId)?.[1];
  if (seconds === undefined) return undefined;
  return { day: dayOf(Number(seconds) * 1000), file: generationId + ENDING };
}

export function isDay(name: string): boolean {
  return DAY.test(name);
}

/** Arrival time of a file's generation, epoch milliseconds; undefined for other files. */
export function arrivalOfFile(file: string): number | undefined {
  if (!file.endsWith(ENDING)) return undefined;
  const seconds = GENERATION_ID.exec(file.slice(0, -ENDING.length))?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** Begin of a day and of the next one, epoch milliseconds. */
export function rangeOfDay(day: string): { readonly beginMs: number; readonly endMs: number } {
  const beginMs = Date.parse(`${day}T00:00:00Z`);
  return { beginMs, endMs: beginMs + DAY_MS };
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

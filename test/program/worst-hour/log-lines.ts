/** A line of the log. */
export type LogLine = Readonly<Record<string, unknown>> & {
  readonly message: string;
  readonly level: string;
};

/** The lines of a JSON log, without those for debugging. */
export function linesOf(text: string): LogLine[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine)
    .filter(({ level }) => level !== 'debug');
}

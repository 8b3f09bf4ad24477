import type { Files } from './files.ts';

/** How often content that belongs to no file is looked for, milliseconds. */
const EVERY_MS = 3_600_000;

/** Has content that belongs to no file removed, now and every hour. */
export function keepSwept(
  files: Pick<Files, 'sweep'>,
  log: { warn(message: string, fields?: Readonly<Record<string, unknown>>): void },
): { close(): Promise<void> } {
  const sweep = () =>
    files.sweep().catch((error: unknown) => {
      log.warn('content of deleted files could not be removed; it is tried again in an hour', { error });
    });
  let sweeping = sweep();
  const timer = setInterval(() => {
    sweeping = sweeping.then(sweep);
  }, EVERY_MS).unref();
  return {
    async close() {
      clearInterval(timer);
      await sweeping;
    },
  };
}

import type { DuckdbThread } from './duckdb-thread.ts';
import { plain } from './statement.ts';

/** Copies the database of a thread into a new file, as of one moment. */
export async function copyDatabase(thread: DuckdbThread, file: string): Promise<void> {
  const [[name] = []] = await thread.run(plain('SELECT current_database()'));
  // Statements about databases take no parameters, so names are quoted.
  await thread.run(plain(`ATTACH '${file.replaceAll("'", "''")}' AS copy`));
  try {
    await thread.run(plain(`COPY FROM DATABASE "${String(name).replaceAll('"', '""')}" TO copy`));
  } finally {
    // Writes everything into the file itself and leaves no log beside it.
    await thread.run(plain('DETACH copy'));
  }
}

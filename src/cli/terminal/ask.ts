import { createInterface } from 'node:readline/promises';

/** Asks a question. */
export type Ask = (question: string) => Promise<string>;

/** Asks on the terminal; undefined if the program has none. */
export function askTerminal(): Ask | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return async (question) => {
    const dialogue = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await dialogue.question(question);
    } finally {
      dialogue.close();
    }
  };
}

export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer.trim());
}

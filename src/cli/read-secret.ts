import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { environmentVariable } from '../config/load.ts';
import { CommandRefused } from '../control/send-command.ts';

/** The longest credential that is stored, characters. */
const MAX_SECRET_CHARACTERS = 65_536;

/**
 * Reads a secret from an environment variable, from a terminal without showing it, or from standard input; never from
 * an argument, which other users of the machine can see. Rejects with CommandRefused.
 */
export async function readSecret(what: string, variable: string | undefined): Promise<string> {
  const secret = await readOptionalSecret(what, variable);
  if (secret !== undefined) return secret;
  throw new CommandRefused(`standard input holds nothing: write the ${what} there, or use --secret-env NAME`);
}

/** The same for a secret that need not be: undefined if nothing was given. */
export async function readOptionalSecret(
  what: string,
  variable: string | undefined,
): Promise<string | undefined> {
  if (variable !== undefined) return fromEnvironment(variable);
  const text = process.stdin.isTTY ? await fromTerminal(what) : await fromInput();
  const secret = text.replace(/\r?\n$/, '');
  return secret === '' ? undefined : secret;
}

function fromEnvironment(name: string): string {
  const secret = environmentVariable(name);
  if (secret !== undefined) return secret;
  throw new CommandRefused(`the environment variable ${name} is not set`);
}

/** Rejects after Ctrl-C and Ctrl-D. */
async function fromTerminal(what: string): Promise<string> {
  const hidden = new Writable({ write: (_piece, _encoding, done) => done() });
  // Switches the echo of the terminal off.
  const terminal = createInterface({ input: process.stdin, output: hidden, terminal: true });
  const closed = new Promise<never>((_resolve, reject) => {
    terminal.once('close', () => reject(new CommandRefused('nothing was stored')));
  });
  process.stderr.write(`${what} (not shown): `);
  try {
    return await Promise.race([terminal.question(''), closed]);
  } finally {
    // The rejection that closing causes is not awaited any more.
    closed.catch(() => {});
    terminal.close();
    process.stderr.write('\n');
  }
}

async function fromInput(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const piece of process.stdin) {
    text += piece;
    if (text.length > MAX_SECRET_CHARACTERS + 2) {
      throw new CommandRefused(`standard input holds more than ${MAX_SECRET_CHARACTERS} characters`);
    }
  }
  return text;
}

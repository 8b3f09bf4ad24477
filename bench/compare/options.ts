import { parseArgs } from 'node:util';

/** Which comparisons run beside the gateway. */
export type Peers = 'none' | 'nginx' | 'all';

/** What the command line of the benchmark says. */
export interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** The one scenario to run; absent = all. */
  readonly only?: string;
  readonly peers: Peers;
  /** Where the figures are written as JSON. */
  readonly json?: string;
  /** The folder of another checkout, built, that is measured beside this one. */
  readonly against?: string;
}

/** How to call the benchmark. */
export const USAGE =
  'usage: npm run bench -- [--rounds N] [--seconds S] [--only SCENARIO] [--peers none|nginx|all] [--json FILE] [--against FOLDER]';

/** Reads the words of the command line. Throws an error that says what is wrong with them. */
export function parseOptions(words: readonly string[], scenarios: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...words],
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '1' },
      only: { type: 'string' },
      peers: { type: 'string', default: 'all' },
      json: { type: 'string' },
      against: { type: 'string' },
    },
  });
  if (values.only !== undefined && !scenarios.includes(values.only))
    throw new Error(`--only ${values.only}: there is no such scenario; there are ${scenarios.join(', ')}`);
  return {
    rounds: whole('--rounds', values.rounds, 100),
    seconds: positive('--seconds', values.seconds, 600),
    peers: peersOf(values.peers),
    ...(values.only !== undefined && { only: values.only }),
    ...(values.json !== undefined && { json: values.json }),
    ...(values.against !== undefined && { against: values.against }),
  };
}

function positive(name: string, word: string, most: number): number {
  const value = Number(word);
  if (value > 0 && value <= most) return value;
  throw new Error(`${name} ${word}: must be a number above 0 and at most ${most}`);
}

function whole(name: string, word: string, most: number): number {
  const value = Number(word);
  if (Number.isInteger(value) && value > 0 && value <= most) return value;
  throw new Error(`${name} ${word}: must be a whole number above 0 and at most ${most}`);
}

function peersOf(word: string): Peers {
  if (word === 'none' || word === 'nginx' || word === 'all') return word;
  throw new Error(`--peers ${word}: must be none, nginx or all`);
}

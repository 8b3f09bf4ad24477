import { problemLine } from '../../config/problem.ts';
import type { Flags } from '../../config/runtime.ts';
import { CommandRefused } from '../../control/send-command.ts';
import { MAX_CATALOG_BYTES } from '../../control/wire.ts';
import { readJson } from '../../kit/json/json.ts';
import type { Issue } from '../../kit/json/validate.ts';
import { countText } from '../../kit/text/count-text.ts';
import { type Difference, problemsOfData } from '../../manage/models/model-knowledge.ts';
import { readSource } from '../read-source.ts';
import { runControlCommand } from '../run-control-command.ts';
import { type Ask, askTerminal, isYes } from '../terminal/ask.ts';
import { jsonText, type Output, tableText } from '../terminal/output.ts';

export interface RefreshFlags {
  readonly dryRun: boolean;
  readonly prune: boolean;
  /** Skip the confirmation. */
  readonly yes: boolean;
  readonly asJson: boolean;
  readonly output: Output;
  /** Asks for confirmation; undefined = not interactive. Default: the terminal. */
  readonly ask?: Ask | undefined;
}

/** Shows the differences that data make, then imports them. Returns the exit code. */
export async function refreshCatalog(flags: Flags, source: string, options: RefreshFlags): Promise<number> {
  const { dryRun, prune, yes, asJson, output } = options;
  const ask = 'ask' in options ? options.ask : askTerminal();
  const reading = readJson(await readSource(source, MAX_CATALOG_BYTES));
  if (!reading.ok) {
    throw new CommandRefused(
      `the data are refused: ${[reading.path, reading.problem].filter(Boolean).join(' ')}`,
    );
  }
  const data = reading.value;
  // Checked here first, so that invalid data do not create a data directory.
  const problems = problemsOfData(data, Date.now());
  if (problems.length > 0) return refuse(problems, options);
  const look = await runControlCommand(flags, 'catalog.refresh', { data, prune, apply: false });
  if (!look.ok) return refuse(look.problems, options);
  const { differences, changed, state } = look;
  const shown = differences.filter((difference) => !isKept(difference));
  const kept = differences.filter(isKept).map(({ model, tag }) => ({ model, tag }));
  const end = (applied: boolean, sentence: string) => {
    output.out(asJson ? jsonText({ applied, differences: shown, kept }) : `${sentence}\n`);
  };
  if (!asJson) output.out(differencesText(shown, kept.length));
  if (!changed) end(false, 'Nothing changes: all of this is known.');
  else if (dryRun) end(false, 'Nothing was changed (--dry-run).');
  else if (!yes && ask !== undefined && !isYes(await ask('Bring this in? [y/N] '))) {
    end(false, 'Nothing was changed.');
    return 1;
  } else {
    await runControlCommand(flags, 'catalog.refresh', { data, prune, apply: true, state });
    end(true, 'The catalogue is up to date.');
  }
  return 0;
}

/** Prints problems of data. Returns the exit code. */
function refuse(
  problems: readonly Issue[],
  { asJson, output }: Pick<RefreshFlags, 'asJson' | 'output'>,
): number {
  if (asJson) output.out(jsonText({ problems }));
  output.err(problems.map((problem) => `${problemLine(problem)}\n`).join(''));
  return 1;
}

// --- Differences
// ---------------------------------------------------------------------------------------------------------

type Gone = Extract<Difference, { kind: 'gone' }>;

/** True for an endpoint that the data do not list and that is kept: nothing changes. */
function isKept(difference: Difference): difference is Gone {
  return difference.kind === 'gone' && !difference.pruned;
}

function differencesText(shown: readonly Difference[], kept: number): string {
  const note =
    kept === 0
      ? ''
      : `${countText(kept, 'endpoint')} of these providers ${kept === 1 ? 'is' : 'are'} not in the data, and kept ` +
        `(--prune forgets ${kept === 1 ? 'it' : 'them'}).\n`;
  return `${shown.length === 0 ? '' : `${tableOf(shown)}\n`}${note}`;
}

function tableOf(differences: readonly Difference[]): string {
  return tableText(
    ['', 'MODEL', 'ENDPOINT', 'WHAT', 'OLD', 'NEW', 'FROM'],
    differences.map((difference) => {
      const change = { member: '', ...difference };
      return [
        SIGNS[difference.kind],
        difference.model,
        'tag' in difference ? difference.tag : '',
        change.member === '' ? NOTES[difference.kind] : change.member,
        'old' in difference ? valueText(difference.old) : '',
        'new' in difference ? valueText(difference.new) : '',
        'from' in difference ? difference.from : '',
      ];
    }),
  );
}

type Words = Readonly<Record<Difference['kind'], string>>;

/** + added, ~ changed, - removed, = not changed. */
const SIGNS: Words = {
  'model-added': '+',
  'model-gone': '-',
  'model-changed': '~',
  'endpoint-added': '+',
  'endpoint-changed': '~',
  price: '~',
  gone: '-',
  outdated: '=',
};

const NOTES: Words = {
  'model-added': 'new model',
  'model-gone': 'no endpoint left',
  'model-changed': '',
  'endpoint-added': 'new endpoint',
  'endpoint-changed': '',
  price: '',
  gone: 'forgotten',
  outdated: 'the data are older than what is known',
};

function valueText(value: unknown): string {
  if (value === null) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

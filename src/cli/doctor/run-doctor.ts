import { escapeControls } from '../../config/parse/shown-text.ts';
import type { Flags } from '../../config/runtime.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';
import { checkProgram } from './check-program.ts';
import type { NamedFinding } from './examine-installation.ts';
import type { Verdict } from './finding.ts';
import { countText } from './quantities.ts';

/** What `doctor` says to programs. */
export interface DoctorReport {
  /** The worst of all. */
  readonly verdict: Verdict;
  readonly findings: readonly NamedFinding[];
}

/** Looks for what is wrong with an installation and says how to mend it. Changes nothing that lasts. */
export async function runDoctor(flags: Flags): Promise<CommandResult<DoctorReport>> {
  const ofProgram = (await checkProgram()).map((finding) => ({ check: 'program', ...finding }));
  const findings = isWrong(ofProgram) ? ofProgram : [...ofProgram, ...(await examine(flags))];
  return {
    result: { verdict: worstOf(findings), findings },
    text: `${findingsTable(findings)}\n${verdictText(findings)}\n`,
    hasFailed: isWrong(findings),
  };
}

/** Loaded only now: it needs the packages whose loading was just tried. */
async function examine(flags: Flags): Promise<NamedFinding[]> {
  const { examineInstallation } = await import('./examine-installation.ts');
  return examineInstallation(flags);
}

function isWrong(findings: readonly NamedFinding[]): boolean {
  return worstOf(findings) === 'problem';
}

function worstOf(findings: readonly NamedFinding[]): Verdict {
  const has = (wanted: Verdict) => findings.some(({ verdict }) => verdict === wanted);
  if (has('problem')) return 'problem';
  return has('warning') ? 'warning' : 'ok';
}

function findingsTable(findings: readonly NamedFinding[]): string {
  return tableText(
    ['', 'CHECK', 'FOUND'],
    findings.map(({ verdict, check, what, mend }) => [
      verdict,
      check,
      escapeControls(mend === null ? what : `${what}; ${mend}`),
    ]),
  );
}

function verdictText(findings: readonly NamedFinding[]): string {
  const count = (wanted: Verdict) => findings.filter(({ verdict }) => verdict === wanted).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (problems + warnings === 0) return 'Nothing is wrong.';
  return `${countText(problems, 'problem')}, ${countText(warnings, 'warning')}.`;
}

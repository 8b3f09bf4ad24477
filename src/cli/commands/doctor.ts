import { escapeControls } from '../../config/parse/shown-text.ts';
import type { Flags } from '../../config/runtime.ts';
import { checkProgram } from '../../doctor/check-program.ts';
import type { NamedFinding } from '../../doctor/examine-installation.ts';
import { type Verdict, worstOf } from '../../doctor/finding.ts';
import { countText } from '../../kit/text/count-text.ts';
import { type CommandResult, tableText } from '../terminal/output.ts';

export interface DoctorReport {
  /** The worst verdict of all findings. */
  readonly verdict: Verdict;
  readonly findings: readonly NamedFinding[];
}

/** Runs all checks and reports problems with advice. Makes no lasting changes. */
export async function runDoctor(flags: Flags): Promise<CommandResult<DoctorReport>> {
  const ofProgram = (await checkProgram()).map((finding) => ({ check: 'program', ...finding }));
  const findings = isWrong(ofProgram) ? ofProgram : [...ofProgram, ...(await examine(flags))];
  return {
    result: { verdict: worstOf(findings), findings },
    text: `${findingsTable(findings)}\n${verdictText(findings)}\n`,
    hasFailed: isWrong(findings),
  };
}

/** Imported late: it needs the native packages that `checkProgram` has just tried to load. */
async function examine(flags: Flags): Promise<NamedFinding[]> {
  const { examineInstallation } = await import('../../doctor/examine-installation.ts');
  return examineInstallation(flags);
}

function isWrong(findings: readonly NamedFinding[]): boolean {
  return worstOf(findings) === 'problem';
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

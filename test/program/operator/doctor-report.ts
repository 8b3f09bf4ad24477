import { expect } from 'vitest';
import { run } from '../../../src/cli/run.ts';

/** One finding. */
export interface DoctorFinding {
  readonly check: string;
  readonly verdict: string;
  readonly what: string;
  readonly mend: string | null;
  readonly figures: Record<string, number>;
}

/** The output of `--json`. */
export interface DoctorReport {
  readonly code: number | undefined;
  readonly verdict: string;
  readonly findings: readonly DoctorFinding[];
  /** What one check found. */
  of(check: string): readonly DoctorFinding[];
}

/** Runs `signalbox doctor`. */
export async function typedDoctor(
  ...words: string[]
): Promise<{ code: number | undefined; out: string; err: string }> {
  const said = { out: '', err: '' };
  const code = await run(['doctor', ...words], {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
  });
  return { code, ...said };
}

/** `signalbox doctor --json`. No secret of a test, which all have `canary` in them, may be in it. */
export async function doctorReport(config: string, directory: string): Promise<DoctorReport> {
  const { code, out, err } = await typedDoctor('--json', '--config', config, '--data-dir', directory);
  expect(err).toBe('');
  expect(out).not.toContain('canary');
  const report = JSON.parse(out) as Pick<DoctorReport, 'verdict' | 'findings'>;
  return { code, ...report, of: (name) => report.findings.filter(({ check }) => check === name) };
}

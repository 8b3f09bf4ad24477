import type { Sampling } from '../../../ir/settings.ts';
import type { Report } from '../report/report.ts';

/** Limits of sampling settings of Claude models, in both dialects that serve them. */

/** While thinking the model takes no `top_p` below this. */
const MIN_TOP_P_WHILE_THINKING = 0.95;

const CONFLICTS_WITH_THINKING: Readonly<Partial<Record<keyof Sampling, (value: unknown) => boolean>>> = {
  temperature: (value) => value !== 1,
  topP: (value) => (value as number) < MIN_TOP_P_WHILE_THINKING,
  topK: () => true,
};

export function conflictsWithThinking(field: keyof Sampling, value: unknown): boolean {
  return CONFLICTS_WITH_THINKING[field]?.(value) === true;
}

const MAX_TEMPERATURE = 1;

/** The temperature within the upstream's limit; reports a change. */
export function loweredTemperature(temperature: number, report: Report): number {
  if (temperature <= MAX_TEMPERATURE) return temperature;
  report.coerced(report.name('temperature'), `lowered to ${MAX_TEMPERATURE}, the highest the upstream takes`);
  return MAX_TEMPERATURE;
}

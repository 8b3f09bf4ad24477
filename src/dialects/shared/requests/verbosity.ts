import type { GenerationRequest } from '../../../ir/request.ts';
import { lookUp } from '../../../kit/collections/lookup.ts';
import type { Report } from '../report/report.ts';

/** Values of the formats that no upstream knows, with the nearest that all of them do. */
const NEAREST: Readonly<Record<string, string>> = { xhigh: 'high', max: 'high' };

/** The verbosity as a value that upstreams know; undefined = none requested. */
export function knownVerbosity(
  { verbosity }: Pick<GenerationRequest, 'verbosity'>,
  report: Report,
): string | undefined {
  const nearest = verbosity === undefined ? undefined : lookUp(NEAREST, verbosity);
  if (nearest === undefined) return verbosity;
  report.coerced(report.name('verbosity'), `became ${nearest}, the highest that the upstream knows`);
  return nearest;
}

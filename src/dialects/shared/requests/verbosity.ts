import type { GenerationRequest } from '../../../ir/request.ts';
import { lookUp } from '../../../kit/collections/lookup.ts';
import type { Report } from '../report/report.ts';

/** Words of the formats that no upstream knows, by the nearest that they all do. */
const NEAREST: Readonly<Record<string, string>> = { xhigh: 'high', max: 'high' };

/** How much to write, in a word that upstreams know; undefined when nothing is asked. */
export function knownVerbosity(
  { verbosity }: Pick<GenerationRequest, 'verbosity'>,
  report: Report,
): string | undefined {
  const nearest = verbosity === undefined ? undefined : lookUp(NEAREST, verbosity);
  if (nearest === undefined) return verbosity;
  report.coerced(report.name('verbosity'), `became ${nearest}, the highest that the upstream knows`);
  return nearest;
}

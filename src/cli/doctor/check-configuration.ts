import { problemLine } from '../../config/load.ts';
import { countText } from '../terminal/quantities.ts';
import { type Finding, fine, problem, warning } from './finding.ts';
import type { Situation } from './situation.ts';

/** Reports the findings of `check-config`. */
export async function checkConfiguration({ loading }: Situation): Promise<Finding[]> {
  if (!loading.ok) {
    const { file, problems } = loading;
    return problems.map((issue) =>
      problem(
        problemLine(issue),
        `correct it in ${file} or in the environment, then run signalbox check-config`,
      ),
    );
  }
  const { file, config, warnings } = loading.loaded;
  const source = file ?? 'no configuration file, all settings have their defaults';
  const { providers, models } = config;
  return [
    fine(
      `${source}: ${countText(providers.length, 'provider')}, ${countText(models.length, 'model')} of its own`,
    ),
    ...warnings.map((issue) => warning(problemLine(issue), null)),
  ];
}

import { problemLine } from '../config/problem.ts';
import { type ConfigurationView, configurationView } from '../control/configuration-view.ts';
import { countText } from '../kit/text/count-text.ts';
import { type CheckFinding, fine, problem, warning } from './finding.ts';
import type { Situation } from './situation.ts';

/** Reports the findings of `check-config`; beside a running gateway, those with the gateway's environment. */
export async function checkConfiguration({ loading, configuration }: Situation): Promise<CheckFinding[]> {
  const local = configurationView(loading);
  if (configuration === undefined) return findingsOf(local);
  const isOther = local.file !== null && local.file !== configuration.file;
  return [...findingsOf(configuration), ...(isOther ? findingsOf(local) : [])];
}

function findingsOf({ file, problems, warnings, providers, models }: ConfigurationView): CheckFinding[] {
  if (providers === null || models === null) {
    return problems.map((issue) =>
      problem(
        problemLine(issue),
        issue.place === undefined
          ? `correct it in ${file} or in the environment, then run signalbox check-config`
          : `correct it in ${file}:${issue.place.line}:${issue.place.column}, then run signalbox check-config`,
      ),
    );
  }
  const source = file ?? 'no configuration file, all settings have their defaults';
  return [
    fine(`${source}: ${countText(providers, 'provider')}, ${countText(models, 'model')} of its own`),
    ...warnings.map((issue) => warning(problemLine(issue), null)),
  ];
}

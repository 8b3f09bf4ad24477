import { stringify } from 'yaml';
import { loadConfiguration } from '../../config/load.ts';
import { problemJson, problemsText, problemText } from '../../config/problem.ts';
import { redactedConfig, redactedRuntime } from '../../config/redact.ts';
import type { Flags } from '../../config/runtime.ts';
import { shownPrices } from '../../config/shown-prices.ts';
import { loadOptions } from '../../settings/load-options.ts';
import { jsonText, type Output } from '../terminal/output.ts';

/** Prints the effective configuration with masked secrets, or its problems. Returns the exit code. */
export function checkConfig(flags: Flags, asJson: boolean, output: Output): number {
  const loading = loadConfiguration(loadOptions(flags));
  if (!loading.ok) {
    const { problems, file } = loading;
    if (asJson) output.out(jsonText({ problems: problems.map((problem) => problemJson(problem, file)) }));
    output.err(problemsText(problems, file));
    return 1;
  }
  const { config, file, runtime, warnings } = loading.loaded;
  const started = redactedRuntime(runtime);
  const shown = shownPrices(redactedConfig(config));
  if (asJson) {
    output.out(
      jsonText({
        ...shown,
        runtime: { config_file: file ?? null, ...started },
        warnings: warnings.map((warning) => problemJson(warning, file)),
      }),
    );
  } else {
    const head = { config_file: file ?? 'none', ...started };
    const lines = Object.entries(head).map(([name, value]) => `# ${name}: ${JSON.stringify(value)}\n`);
    output.out(`${lines.join('')}${stringify(shown, { aliasDuplicateObjects: false })}`);
  }
  for (const warning of warnings) output.err(`warning: ${problemText(warning, file)}`);
  return 0;
}

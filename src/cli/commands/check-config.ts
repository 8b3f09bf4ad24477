import { stringify } from 'yaml';
import { type LoadedConfiguration, loadConfiguration } from '../../config/load.ts';
import { problemJson, problemsText, problemText } from '../../config/problem.ts';
import { redactedConfig, redactedRuntime } from '../../config/redact.ts';
import type { Flags } from '../../config/runtime.ts';
import { configSchema } from '../../config/schema/schema.ts';
import { shownPrices } from '../../config/shown-prices.ts';
import { withoutDefaults } from '../../config/without-defaults.ts';
import { countText } from '../../kit/text/count-text.ts';
import { loadOptions } from '../../settings/load-options.ts';
import { jsonText, type Output } from '../terminal/output.ts';

/** How the configuration is printed. JSON has every value. */
interface Printing {
  readonly asJson: boolean;
  /** Values that are as they would be without the file. */
  readonly withDefaults: boolean;
  readonly output: Output;
}

/** Prints the configuration with masked secrets and a verdict, or its problems. Returns the exit code. */
export function checkConfig(flags: Flags, { asJson, withDefaults, output }: Printing): number {
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
    const members = withDefaults ? shown : withoutDefaults(shown, configSchema);
    output.out(`${lines.join('')}${stringify(members, { aliasDuplicateObjects: false })}`);
  }
  for (const warning of warnings) output.err(`warning: ${problemText(warning, file)}`);
  if (!asJson) output.out(verdictOf(loading.loaded));
  return 0;
}

/** A comment, so that the whole stays YAML. */
function verdictOf({ config: { providers, models }, warnings }: LoadedConfiguration): string {
  const counts = [
    countText(providers.length, 'provider'),
    `${countText(models.length, 'model')} of your own`,
    countText(warnings.length, 'warning'),
  ];
  return `# ok: ${counts.join(', ')}\n`;
}

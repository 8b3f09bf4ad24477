import { openModelKnowledge } from '../../app/installation.ts';
import { findDataDirectory, requireConfiguration } from '../../config/load.ts';
import type { Flags } from '../../config/runtime.ts';
import { type CatalogServices, listCatalog, showModel } from '../../control/catalog-view.ts';
import type { CommandInput, CommandOutput } from '../../control/commands.ts';
import { askRunning, CommandRefused } from '../../control/send-command.ts';
import { loadOptions } from '../../settings/load-options.ts';
import { modelListText, modelText } from '../terminal/catalog-text.ts';
import type { CommandResult } from '../terminal/output.ts';

/** The filters of `catalog show`; undefined = not given. */
export type CatalogFlags = {
  readonly [Name in keyof CommandInput<'catalog.list'>]: string | true | undefined;
};

/**
 * Lists the models, or shows one. Asks the running gateway. If none runs, reads the configuration and the imported
 * data, and opens nothing else.
 */
export async function showCatalog(
  flags: Flags,
  model: string | undefined,
  given: CatalogFlags,
): Promise<CommandResult<unknown>> {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  if (model === undefined) {
    const filter = Object.fromEntries(entries) as Parameters<typeof listCatalog>[1];
    const { output, isRunning } = await ask(flags, 'catalog.list', filter, (services) =>
      listCatalog(services, filter),
    );
    return { result: output, text: modelListText(output, isRunning) };
  }
  const [flag] = entries;
  if (flag !== undefined) throw new CommandRefused(`give MODEL or --${flag[0]}, not both`);
  const { output, isRunning } = await ask(flags, 'catalog.show', { model }, (services) =>
    showModel(services, { model }),
  );
  return { result: output, text: modelText(output, isRunning) };
}

/** The answer of the running gateway, or that of this process if none runs. */
async function ask<Name extends 'catalog.list' | 'catalog.show'>(
  flags: Flags,
  name: Name,
  input: CommandInput<Name>,
  alone: (services: CatalogServices) => Promise<CommandOutput<Name>>,
): Promise<{ readonly output: CommandOutput<Name>; readonly isRunning: boolean }> {
  const dataDir = findDataDirectory(flags);
  const answer = await askRunning(dataDir, name, input);
  if (answer !== undefined) return { output: answer, isRunning: true };
  const { config } = requireConfiguration({ ...loadOptions(flags), scope: 'catalogue' });
  const modelKnowledge = await openModelKnowledge(dataDir);
  return { output: await alone({ modelKnowledge, configured: () => config }), isRunning: false };
}

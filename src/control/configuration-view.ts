import type { Loading } from '../config/load.ts';
import type { Problem } from '../config/problem.ts';

/** The configuration file as it is on the disk now, read with the environment of the gateway. */
export interface ConfigurationView {
  /** Null if there is none. */
  readonly file: string | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Number of providers, those of the environment included; null if the file is invalid. */
  readonly providers: number | null;
  /** Number of models that the file lists; null if the file is invalid. */
  readonly models: number | null;
}

export function configurationView(loading: Loading): ConfigurationView {
  if (!loading.ok) {
    const { file, problems } = loading;
    return { file, problems, warnings: [], providers: null, models: null };
  }
  const { file, warnings, config } = loading.loaded;
  return {
    file: file ?? null,
    problems: [],
    warnings,
    providers: config.providers.length,
    models: config.models.length,
  };
}

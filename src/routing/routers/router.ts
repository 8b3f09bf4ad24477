import type { Model } from '../../catalog/catalog.ts';
import type { PipelineEntry, Strategy, TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { ResolutionContext } from '../resolve/resolution.ts';
import type { Variant } from '../rules/routed-model.ts';
import type { PluginSettings } from './plugin-settings.ts';

export interface RouterInput {
  readonly request: GenerationRequest;
  readonly context: ResolutionContext;
  /** Settings of the router's plugin; empty if the request has none. */
  readonly settings: PluginSettings;
  /** Suffixes of the router's id. */
  readonly variants: readonly Variant[];
}

export interface Choice {
  /** In order of preference; at least one. Their endpoints are those of the catalogue or a subset. */
  readonly models: readonly Model[];
  readonly pipeline: readonly PipelineEntry[];
  readonly params?: JsonObject;
  readonly report: readonly TranslationEntry[];
}

/** A model id (`<vendor>/<name>`) that stands for a choice among models. */
export interface Router {
  readonly strategy: Strategy;
  readonly plugin?: string;
  /** Throws NoModelToChoose. */
  choose(input: RouterInput): Choice;
}

export const NO_MODEL_LEFT = 'No models match your request and model restrictions';

export function pinnedFirst(models: readonly Model[], pinned: string | undefined): readonly Model[] {
  const kept = pinned === undefined ? undefined : models.find(({ id }) => id === pinned);
  return kept === undefined ? models : [kept, ...models.filter((model) => model !== kept)];
}

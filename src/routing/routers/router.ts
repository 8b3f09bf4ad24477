import type { Model } from '../../catalog/catalog.ts';
import type { PipelineEntry, Strategy, TranslationEntry } from '../../ir/metadata.ts';
import type { GenerationRequest } from '../../ir/request.ts';
import type { JsonObject } from '../../kit/json/json.ts';
import type { ResolutionContext } from '../resolve/resolution.ts';
import type { Variant } from '../rules/routed-model.ts';
import type { PluginSettings } from './plugin-settings.ts';

/** What a router looks at. */
export interface RouterInput {
  readonly request: GenerationRequest;
  readonly context: ResolutionContext;
  /** Of the plugin that steers the router; without members when the request has none. */
  readonly settings: PluginSettings;
  /** Suffixes that the router's name had. */
  readonly variants: readonly Variant[];
}

/** What a router chose. */
export interface Choice {
  /** In order of preference; at least one. May hold fewer endpoints than the catalogue's, never other ones. */
  readonly models: readonly Model[];
  readonly pipeline: readonly PipelineEntry[];
  readonly params?: JsonObject;
  readonly report: readonly TranslationEntry[];
}

/** A name behind the operator's word that stands for a choice of models. */
export interface Router {
  readonly strategy: Strategy;
  /** Id of the plugin that steers it. */
  readonly plugin?: string;
  /** Throws NothingToChoose. */
  choose(input: RouterInput): Choice;
}

/** What is said when restrictions leave no model. */
export const NO_MODEL_LEFT = 'No models match your request and model restrictions';

/** The choices with the one that the conversation already has in front, where it is still among them. */
export function pinnedFirst(models: readonly Model[], pinned: string | undefined): readonly Model[] {
  const kept = pinned === undefined ? undefined : models.find(({ id }) => id === pinned);
  return kept === undefined ? models : [kept, ...models.filter((model) => model !== kept)];
}

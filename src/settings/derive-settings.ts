import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { buildCatalogSliced, type CatalogSource } from '../catalog/build-catalog.ts';
import { type ConfiguredTeam, FUSION_PRESETS, type FusionSettings } from '../catalog/fusion-team.ts';
import { type AddedProvider, addedTo } from '../catalog/model-entries.ts';
import type { LoadedConfiguration } from '../config/load.ts';
import { callableModes, type SearchEngineName } from '../config/schema/search-engines.ts';
import { workerCountOf } from '../config/worker-count.ts';
import { DIALECTS } from '../dialects/dialects.ts';
import { applyPreset, type Presets, presetReport } from '../dialects/shared/presets/preset.ts';
import { fillPromptTemplate, type PromptTemplate } from '../dialects/shared/presets/prompt-template.ts';
import type { PreparedBody } from '../gateway/request/accept-request.ts';
import type { GatewaySettings } from '../gateway/request/settings.ts';
import { corsRulesOf } from '../http/access/cors.ts';
import type { HttpSettings } from '../http/dependencies.ts';
import type { RequestFormat } from '../ir/items.ts';
import type { JsonObject } from '../kit/json/json.ts';
import { forEachSliced, runAtOnce, type Sliced } from '../kit/loop/turns.ts';
import { nanosOf } from '../kit/money.ts';
import { parseTrustedProxies } from '../kit/net/client-address.ts';
import { type EgressRules, parseEgressRules } from '../kit/net/egress.ts';
import { type ConfiguredServers, configuredServersOf } from '../mcp/configured-servers.ts';
import type { FileQuotas } from '../ports/content/files.ts';
import type { CooldownSettings } from '../routing/health/breaker.ts';
import type { OcrSettings } from '../stages/stage.ts';
import type { ToolLimits } from '../tools/server-tool.ts';
import type { SearchPrice, WebSettings } from '../web/web-settings.ts';

/** Everything that a configuration decides and a reload replaces. */
export interface DerivedSettings {
  readonly config: LoadedConfiguration['config'];
  readonly prompts: Readonly<Record<string, PromptTemplate>>;
  readonly gateway: GatewaySettings;
  /** MCP servers of the configuration. */
  readonly mcpServers: ConfiguredServers;
  readonly http: HttpSettings;
  readonly egress: EgressRules;
  readonly cooldown: CooldownSettings;
  /** Memory that all large answers in flight may take together in this process. */
  readonly largeAnswersBytes: number;
  /** Memory for output items in this process. */
  readonly outputItemsBytes: number;
  /** How much may be stored as files. */
  readonly fileQuotas: FileQuotas;
}

/** What the catalogue has besides the configuration. */
export interface CatalogAdditions {
  /** Facts about models, shipped and from `catalog refresh`. */
  readonly known?: CatalogSource['known'];
  /** Providers that the operator has added. */
  readonly stored?: readonly AddedProvider[];
}

/** The source of a configuration's catalogue. */
function catalogSourceOf(
  { config }: LoadedConfiguration,
  { known, stored = [] }: CatalogAdditions,
): CatalogSource {
  const { providers, models } = config;
  return { providers, models, added: addedTo(config, stored), ...(known !== undefined && { known }) };
}

/** Derives the settings of all parts from a configuration. */
export function deriveSettings(loaded: LoadedConfiguration, additions?: CatalogAdditions): DerivedSettings {
  return runAtOnce(deriveSettingsSliced(loaded, additions));
}

/** As deriveSettings, in slices, for a serving process. */
export function* deriveSettingsSliced(
  loaded: LoadedConfiguration,
  additions: CatalogAdditions = {},
): Sliced<DerivedSettings> {
  const catalog = yield* buildCatalogSliced(catalogSourceOf(loaded, additions));
  yield;
  const prompts = yield* promptsOf(loaded.config.prompts);
  const { config } = loaded;
  const workers = workerCountOf(loaded);
  const largeBodiesBytes = largeBodiesBytesOf(config.limits.large_bodies_bytes, workers);
  return {
    config,
    largeAnswersBytes: largeBodiesBytes / 2,
    outputItemsBytes: Math.floor(config.retention.output_items_bytes / workers),
    fileQuotas: fileQuotasOf(config.limits.files),
    prompts,
    egress: parseEgressRules(config.egress.allow),
    mcpServers: configuredServersOf(config),
    cooldown: {
      failures: config.routing.cooldown.failures,
      baseMs: config.routing.cooldown.base_ms,
      maxMs: config.routing.cooldown.max_ms,
    },
    gateway: {
      vendor: config.vendor,
      region: config.server.region,
      catalog,
      attempts: {
        perModel: config.routing.attempts_per_model,
        perRequest: config.routing.attempts_per_request,
      },
      autoModels: config.plugins['auto-router']?.models ?? undefined,
      byokFee: config.byok.fee,
      checkpointMs: config.durability.checkpoint_ms,
      maxFileBytes: config.server.max_body_bytes,
      contentRoomBytes: CONTENT_ROOM_BODIES * config.server.max_body_bytes,
      moderation: config.plugins.moderation ?? undefined,
      ocr: ocrSettingsOf(config),
      propagatesTrace: config.observability.propagate_trace,
      web: webSettingsOf(config),
      tools: toolLimitsOf(config),
      fusion: fusionSettingsOf(config),
    },
    http: {
      vendor: config.vendor,
      basePath: config.server.base_path,
      maxBodyBytes: config.server.max_body_bytes,
      requestDeadlineMs: config.server.request_deadline_ms,
      maxConcurrentRequests: Math.ceil(config.limits.max_concurrent_requests / workers),
      largeBodiesBytes: largeBodiesBytes / 2,
      cors: corsRulesOf(config.server.cors.origins, config.vendor),
      trustedProxies: parseTrustedProxies(config.server.trusted_proxies),
      areMetricsPublic: config.metrics.public,
      shownKeyLimits: config.metrics.key_limits,
      metricsToken: config.metrics.token ?? undefined,
      traceUrl: config.observability.trace_url ?? undefined,
      rates: {
        perKey: {
          minute: config.limits.per_key.requests_per_minute,
          day: config.limits.per_key.requests_per_day,
        },
        tokensPerKey: {
          minute: config.limits.per_key.tokens_per_minute,
          day: config.limits.per_key.tokens_per_day,
        },
        analyticsPerMinute: config.limits.analytics_per_minute,
        datasets: { minute: config.limits.datasets.per_minute, day: config.limits.datasets.per_day },
      },
    },
  };
}

function fileQuotasOf(files: LoadedConfiguration['config']['limits']['files']): FileQuotas {
  const quotaOf = ({ max_bytes, max_files }: typeof files.per_key) => ({
    bytes: max_bytes,
    files: max_files,
  });
  return {
    key: quotaOf(files.per_key),
    workspace: quotaOf(files.per_workspace),
    account: quotaOf(files.per_account),
  };
}

function toolLimitsOf({ tools }: LoadedConfiguration['config']): ToolLimits {
  const { image_generation: images, sandbox, limits } = tools;
  return {
    steps: limits.steps,
    imageModel: images?.model,
    sandbox: sandbox
      ? {
          url: sandbox.url,
          token: sandbox.token ?? undefined,
          runNanos: nanosOf(sandbox.price_per_run),
        }
      : undefined,
  };
}

type EngineConfig = NonNullable<LoadedConfiguration['config']['plugins']['web']>['engines'][string];

function searchPriceOf({
  price_per_search: price,
  price_per_result: result,
}: EngineConfig): SearchPrice | undefined {
  if (price === undefined || price === null) return undefined;
  const byMode = new Map(
    typeof price === 'number'
      ? []
      : Object.entries(price).map(([mode, usd]) => [mode, nanosOf(usd)] as const),
  );
  const nanos =
    typeof price === 'number'
      ? nanosOf(price)
      : [...byMode.values()].reduce((most, each) => (each > most ? each : most), 0n);
  return { nanos, byMode, resultNanos: nanosOf(result ?? 0) };
}

function webSettingsOf({ plugins, tools }: LoadedConfiguration['config']): WebSettings {
  const engines = Object.entries(plugins.web?.engines ?? {}).map(
    ([name, engine]) =>
      [
        name as SearchEngineName,
        {
          apiKey: engine.api_key ?? undefined,
          url: engine.url ?? undefined,
          price: searchPriceOf(engine),
          modes: callableModes(name as SearchEngineName, engine),
        },
      ] as const,
  );
  const {
    fetch_ms: fetchMs,
    tool_ms: toolMs,
    read_bytes: readBytes,
    result_characters: resultCharacters,
  } = tools.limits;
  return {
    engines: new Map(engines),
    defaultEngine: plugins.web?.default ?? undefined,
    limits: { fetchMs, toolMs, readBytes, resultCharacters },
  };
}

function fusionSettingsOf({ plugins: { fusion } }: LoadedConfiguration['config']): FusionSettings {
  const presets = FUSION_PRESETS.map((name) => [name, teamOf(fusion?.presets?.[name])] as const);
  return { ...teamOf(fusion), presets: Object.fromEntries(presets) };
}

function teamOf(
  given: { readonly panel?: string[] | null; readonly judge?: string | null } | null | undefined,
): ConfiguredTeam {
  return { panel: given?.panel ?? undefined, judge: given?.judge ?? undefined };
}

/**
 * The share of one process. By default half of what the process may take: what large bodies are made of stands in the
 * heap, which has a limit of its own.
 */
function largeBodiesBytesOf(configured: number | null, workers: number): number {
  if (configured !== null) return Math.floor(configured / workers);
  const constrained = process.constrainedMemory();
  const machineBytes = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.floor(Math.min(machineBytes / workers, getHeapStatistics().heap_size_limit) / 2);
}

/** Memory for stored files, in bodies of maximum size. At least 2: text may take two bytes a character. */
const CONTENT_ROOM_BODIES = 4;

/** Fills in what requests name and the operator wrote: presets, then prompt templates. */
export function prepareBody(
  format: RequestFormat,
  given: JsonObject,
  { config, prompts }: DerivedSettings,
): PreparedBody {
  const presets = config.presets as Presets;
  const { preset, hasPromptTemplates } = DIALECTS[format].facts;
  const body = applyPreset(preset, given, presets);
  return {
    body: hasPromptTemplates === true ? fillPromptTemplate(body, prompts) : body,
    report: presetReport(preset, given, presets),
  };
}

function* promptsOf(given: LoadedConfiguration['config']['prompts']): Sliced<DerivedSettings['prompts']> {
  const prompts: Record<string, PromptTemplate> = {};
  yield* forEachSliced(Object.keys(given), (id) => {
    const { instructions, input } = given[id] ?? {};
    const template = { instructions: instructions ?? undefined, input: input ?? undefined };
    // Plain assignment of `__proto__` would change the prototype instead.
    Object.defineProperty(prompts, id, { value: template, enumerable: true });
  });
  return prompts;
}

function ocrSettingsOf(config: LoadedConfiguration['config']): OcrSettings | undefined {
  const ocr = config.plugins['file-parser']?.ocr ?? undefined;
  if (ocr === undefined) return undefined;
  const { provider, model, price_per_page: price } = ocr;
  return { provider, model, pageNanos: typeof price === 'number' ? nanosOf(price) : undefined };
}

import type {
  CreateGatewayProvider,
  GatewayProviderObject,
  ProviderTestObject,
  UpdateGatewayProvider,
} from '../../api/contract.ts';
import type { Problems } from '../../parts/form/use-form.ts';

/** A provider that a key is given to: a known one, or a server of one's own, which has no slug yet. */
export interface ServedProvider {
  readonly slug: string | null;
  readonly name: string;
  /** As it was added before; null = it was not. */
  readonly stored: GatewayProviderObject | null;
}

/** What a server of one's own may speak. */
export const DIALECTS = [
  ['openai-chat', 'OpenAI chat completions (Ollama, vLLM, llama.cpp, LM Studio)'],
  ['openai-responses', 'OpenAI responses'],
  ['anthropic-messages', 'Anthropic messages'],
  ['google-gemini', 'Google Gemini'],
] as const;

type Dialect = (typeof DIALECTS)[number][0];

/** A model of a server, and what is wanted of it. */
export interface ModelChoice {
  readonly id: string;
  readonly model: string;
  readonly name: string | null;
  readonly contextLength: number | null;
  readonly isServed: boolean;
  /** USD per million tokens, as typed; empty = free. */
  readonly prompt: string;
  readonly completion: string;
}

/** The fields, by the names of the interface, so that refusals are shown beside them. */
export interface ProviderValues {
  readonly slug: string;
  readonly dialect: Dialect;
  readonly base_url: string;
  /** Empty in a change = it stays. */
  readonly key: string;
  readonly models: readonly ModelChoice[];
  /** Ids; null = all workspaces. */
  readonly workspace_ids: readonly string[] | null;
}

/** True for a server at an address of one's own, which serves chosen models alone. */
export function isOwnServer({ slug, stored }: ServedProvider): boolean {
  return slug === null || (stored !== null && stored.base_url !== null);
}

export function providerValues({ slug, stored }: ServedProvider): ProviderValues {
  return {
    slug: slug ?? '',
    dialect: (stored?.dialect as Dialect | null) ?? 'openai-chat',
    base_url: stored?.base_url ?? '',
    key: '',
    models: (stored?.models ?? []).map((model) => ({
      ...model,
      contextLength: model.context_length,
      isServed: true,
      prompt: perMillion(model.pricing.prompt),
      completion: perMillion(model.pricing.completion),
    })),
    workspace_ids: stored?.workspace_ids ?? null,
  };
}

export function providerProblems(values: ProviderValues, provider: ServedProvider): Problems<ProviderValues> {
  const isOwn = isOwnServer(provider);
  const wrong = values.models.find(
    ({ isServed, prompt, completion }) => isServed && [prompt, completion].some(isNoPrice),
  );
  return {
    ...(isOwn && values.slug.trim() === '' && { slug: 'Give it a short name, such as workshop.' }),
    ...(isOwn &&
      !/^https?:\/\/\S/.test(values.base_url.trim()) && {
        base_url: 'An address that begins with http:// or https://.',
      }),
    ...(!isOwn && provider.stored === null && values.key.trim() === '' && { key: 'Paste its key.' }),
    ...(wrong !== undefined && { models: `A price of ${wrong.model} is no amount, such as 0.40.` }),
    ...(values.workspace_ids?.length === 0 && { workspace_ids: 'Choose at least one workspace.' }),
  };
}

/** The body of a test: with what is typed, or of what is stored. */
export function testBody(values: ProviderValues, provider: ServedProvider) {
  return { slug: values.slug.trim(), ...placeOf(values, provider), ...keyOf(values) };
}

/** The body of `POST /gateway/providers`. */
export function createBody(values: ProviderValues, provider: ServedProvider): CreateGatewayProvider {
  return {
    slug: values.slug.trim(),
    ...placeOf(values, provider),
    ...keyOf(values),
    ...(isOwnServer(provider) && { models: modelsOf(values) }),
    ...(values.workspace_ids !== null && { workspace_ids: [...values.workspace_ids] }),
  };
}

/** The body of `PATCH /gateway/providers/{slug}`. */
export function updateBody(values: ProviderValues, provider: ServedProvider): UpdateGatewayProvider {
  return {
    ...placeOf(values, provider),
    ...keyOf(values),
    ...(isOwnServer(provider) && { models: modelsOf(values) }),
    workspace_ids: values.workspace_ids === null ? null : [...values.workspace_ids],
  };
}

function placeOf({ dialect, base_url: address }: ProviderValues, provider: ServedProvider) {
  return isOwnServer(provider) ? { dialect, base_url: address.trim() } : {};
}

function keyOf({ key }: ProviderValues) {
  return key.trim() === '' ? {} : { key: key.trim() };
}

function modelsOf({ models }: ProviderValues): NonNullable<CreateGatewayProvider['models']> {
  return models
    .filter(({ isServed }) => isServed)
    .map(({ id, model, name, contextLength, prompt, completion }) => ({
      id,
      model,
      ...(name !== null && { name }),
      ...(contextLength !== null && { context_length: contextLength }),
      pricing: { prompt: perToken(prompt) ?? '0', completion: perToken(completion) ?? '0' },
    }));
}

/** Of so few models, all are chosen at first. */
const FEW_MODELS = 12;

/** The models after a test: those of before as they were, and the others that it lists. */
export function withListed(
  models: readonly ModelChoice[],
  listed: ProviderTestObject['models'],
): readonly ModelChoice[] {
  const known = new Set(models.map(({ model }) => model));
  const isFirst = models.length === 0;
  return [
    ...models,
    ...listed
      .filter(({ model }) => !known.has(model))
      .map(({ id, model, name, context_length: contextLength }) => ({
        id,
        model,
        name,
        contextLength,
        isServed: isFirst && listed.length <= FEW_MODELS,
        prompt: '',
        completion: '',
      })),
  ];
}

function isNoPrice(typed: string): boolean {
  return perToken(typed) === undefined;
}

/** A price of a million tokens as that of one, exact; undefined if the text is none. Empty = free. */
export function perToken(typed: string): string | undefined {
  const text = typed.trim();
  if (text === '') return '0';
  const [, whole, decimals = ''] = /^(\d{1,8})(?:\.(\d{1,12}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = `${whole.padStart(7, '0')}${decimals}`;
  const point = digits.length - decimals.length - 6;
  return trimmed(`${digits.slice(0, point)}.${digits.slice(point)}`);
}

/** The way back. */
export function perMillion(price: string): string {
  const [whole = '', decimals = ''] = price.split('.');
  const padded = decimals.padEnd(6, '0');
  const text = trimmed(`${whole}${padded.slice(0, 6)}.${padded.slice(6)}`);
  return text === '0' ? '' : text;
}

function trimmed(decimal: string): string {
  const [whole = '', decimals = ''] = decimal.split('.');
  const rest = decimals.replace(/0+$/, '');
  return `${whole.replace(/^0+(?=\d)/, '')}${rest === '' ? '' : `.${rest}`}`;
}

import type { ListedModelView } from '../../control/catalog-view.ts';
import { countText } from '../../kit/text/count-text.ts';
import { tokensText } from '../../kit/text/quantities.ts';
import type { ListedEndpoint, ListedModel } from '../../manage/models/listed-models.ts';
import { pricesText } from './catalog-prices-text.ts';
import { tableText } from './output.ts';

/** Texts of `catalog show` fit into a terminal of this many columns, unless a name alone is longer. */
export const COLUMNS = 100;

/** Said where this process judged by its own environment. */
const NO_GATEWAY = 'No gateway runs on this data directory: credentials are those that this shell has.\n';

// --- The list --------------------------------------------------------------------------------------------------------

export function modelListText(models: readonly ListedModelView[], isRunning: boolean): string {
  const note = isRunning ? '' : NO_GATEWAY;
  if (models.length === 0) return `No model matches.\n${note}`;
  const headings = ['MODEL', 'CONTEXT', 'INPUT', 'OUTPUT', 'ON'];
  const rows = models.map((model) => [
    model.id,
    model.context_length === null ? '' : tokensText(model.context_length),
    ...priceTexts(model),
    model.is_on ? 'yes' : '',
  ]);
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const room = COLUMNS - widths.reduce((sum, width) => sum + width + 2, 0);
  const table = tableText(
    [...headings, 'PROVIDERS'],
    rows.map((row, at) => [...row, fitting(models[at]?.providers ?? [], room)]),
    ['CONTEXT', 'INPUT', 'OUTPUT'],
  );
  const on = models.filter(({ is_on }) => is_on).length;
  return (
    `${table}\n${countText(models.length, 'model')}, ${on} on. ` +
    'Prices: USD for a million tokens, of the cheapest endpoint.\n' +
    `signalbox catalog show MODEL shows one, and what switches it on.\n${note}`
  );
}

/** Prompt and completion; a model that costs nothing is `free`. */
function priceTexts({
  prompt_per_million: prompt,
  completion_per_million: completion,
}: ListedModelView): string[] {
  const prices = [prompt, completion];
  const isFree = prices.every((price) => price !== null && Number(price) === 0);
  return prices.map((price) => (isFree ? 'free' : String(price ?? '')));
}

/** As many names as fit, and how many do not. At least one. */
function fitting(names: readonly string[], room: number): string {
  for (let count = names.length; count > 1; count--) {
    const rest = names.length - count;
    const text = `${names.slice(0, count).join(', ')}${rest > 0 ? ` +${rest}` : ''}`;
    if (text.length <= room) return text;
  }
  const [first = ''] = names;
  return names.length > 1 ? `${first} +${names.length - 1}` : first;
}

// --- One model -------------------------------------------------------------------------------------------------------

/** One model: facts, endpoints, prices, parameters, and what switches it on. */
export function modelText(model: ListedModel, isRunning: boolean): string {
  const { id, name, description, endpoints } = model;
  const head = [name ? `${id}: ${name}` : id, ...(description ? [description] : [])];
  const parts = [
    head.flatMap((line) => wrapped(line, '')).join('\n'),
    facts(model),
    endpointsText(model),
    pricesText(endpoints),
    parametersText(endpoints),
    needsText(endpoints),
    ...(isRunning ? [] : [NO_GATEWAY]),
  ];
  return `${parts
    .filter((part) => part !== '')
    .map((part) => part.trimEnd())
    .join('\n\n')}\n`;
}

function facts(model: ListedModel): string {
  const { context_length: context, max_output_tokens: output, quality, reasoning, aliases } = model;
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    ['released', model.created],
    ['knowledge until', model.knowledge_cutoff],
    ['context', tokenCount(context)],
    ['longest answer', tokenCount(output)],
    ['takes', model.input_modalities?.join(', ')],
    ['writes', model.output_modalities?.join(', ')],
    ['reasoning', reasoning && reasoningText(reasoning)],
    ['quality', quality && qualityText(quality)],
    ['also called', aliases?.join(', ')],
    ['facts of', model.as_of],
    ['source', model.source],
  ];
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  return rows.flatMap(([label, value]) => (value ? wrapped(value, label.padEnd(width)) : [])).join('\n');
}

function tokenCount(tokens: number | null | undefined): string | undefined {
  return tokens ? `${tokens.toLocaleString('en-US')} tokens` : undefined;
}

function reasoningText(reasoning: NonNullable<ListedModel['reasoning']>): string {
  const { mandatory, default_enabled, default_effort, supported_efforts, supports_max_tokens } = reasoning;
  return [
    mandatory ? 'always' : default_enabled ? 'on by default' : 'off by default',
    ...(supported_efforts ? [`efforts ${supported_efforts.join(', ')}`] : []),
    ...(default_effort ? [`${default_effort} by default`] : []),
    ...(supports_max_tokens ? ['takes a budget in tokens'] : []),
  ].join('; ');
}

function qualityText({ general, coding }: NonNullable<ListedModel['quality']>): string {
  return [...(general ? [`general ${general}`] : []), ...(coding ? [`coding ${coding}`] : [])].join(', ');
}

function endpointsText({
  endpoints,
  context_length: context,
  max_output_tokens: answer,
}: ListedModel): string {
  const shown = (tokens: number | null | undefined) => (tokens ? tokensText(tokens) : '');
  const hasWeights = endpoints.some(({ quantization }) => quantization);
  return tableText(
    ['ENDPOINT', 'UPSTREAM MODEL', 'CONTEXT', 'ANSWER', ...(hasWeights ? ['WEIGHTS'] : []), 'ON'],
    endpoints.map((endpoint) => [
      endpoint.tag,
      endpoint.model ?? '',
      shown(endpoint.context_length ?? context),
      shown(endpoint.max_output_tokens ?? answer),
      ...(hasWeights ? [endpoint.quantization ?? ''] : []),
      endpoint.is_on ? 'yes' : 'no',
    ]),
    ['CONTEXT', 'ANSWER'],
  );
}

/** Endpoints with the same parameters share a paragraph. */
function parametersText(endpoints: readonly ListedEndpoint[]): string {
  const tagsOf = new Map<string, string[]>();
  for (const { tag, supported_parameters: names } of endpoints) {
    const text = names ? names.join(', ') : 'all of its dialect';
    tagsOf.set(text, [...(tagsOf.get(text) ?? []), tag]);
  }
  const lines = [...tagsOf].flatMap(([names, tags]) =>
    wrapped(tagsOf.size === 1 ? names : `${tags.join(', ')}: ${names}`, '', 2),
  );
  return ['PARAMETERS', ...lines].join('\n');
}

/** Steps that switch on endpoints that are off, each once. */
function needsText(endpoints: readonly ListedEndpoint[]): string {
  const needs = new Map(
    endpoints.flatMap(({ provider, needs: remedy }) =>
      remedy === null ? [] : [[provider, remedy] as const],
    ),
  );
  if (needs.size === 0) return '';
  const isOn = endpoints.some(({ is_on }) => is_on);
  return [
    `${isOn ? 'To switch on the others' : 'No endpoint is on. To switch one on'}: signalbox providers add PROVIDER, or`,
    ...[...needs].map(([provider, remedy]) => `  ${provider}: ${remedy}`),
  ].join('\n');
}

/** Lines of a text behind a label, broken between words. */
function wrapped(text: string, label: string, indent = label.length): string[] {
  const lines = [label];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    const isFirst = last.length === label.length || last.trim() === '';
    if (isFirst) lines[lines.length - 1] = `${last}${word}`;
    else if (last.length + 1 + word.length <= COLUMNS) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${' '.repeat(indent)}${word}`);
  }
  return lines;
}

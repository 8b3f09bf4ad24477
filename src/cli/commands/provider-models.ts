import { CommandRefused } from '../../control/send-command.ts';
import { MAX_PROVIDER_MODELS } from '../../ports/tenancy/gateway-providers.ts';

/** A model of a provider, in the notation of the API. */
export interface WantedModel {
  readonly id?: string;
  readonly model: string;
  readonly name?: string | null;
  readonly context_length?: number | null;
  readonly pricing?: { readonly prompt: string; readonly completion: string };
}

/** Prices of models by their names, from `NAME=IN/OUT,...` in USD per million tokens. Throws a CommandRefused. */
export function pricesOf(
  typed: string | undefined,
): ReadonlyMap<string, NonNullable<WantedModel['pricing']>> {
  const prices = new Map<string, NonNullable<WantedModel['pricing']>>();
  for (const part of listOf(typed)) {
    const at = part.lastIndexOf('=');
    const [prompt, completion, ...rest] = part
      .slice(at + 1)
      .split('/')
      .map(perToken);
    if (at < 1 || prompt === undefined || completion === undefined || rest.length > 0) {
      throw new CommandRefused(
        `--prices: "${part}" is not NAME=IN/OUT, USD per million tokens, for example llama3.2:3b=0.10/0.40`,
      );
    }
    prices.set(part.slice(0, at), { prompt, completion });
  }
  return prices;
}

/** The entries of a list with commas. */
export function listOf(typed: string | undefined): readonly string[] {
  return (typed ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A price of a million tokens as that of one, exact; undefined if the text is none. */
function perToken(text: string): string | undefined {
  const [, whole = '', decimals = ''] = /^(\d{1,9})(?:\.(\d{1,12}))?$/.exec(text.trim()) ?? [];
  if (whole === '') return undefined;
  const digits = `${whole.padStart(7, '0')}${decimals}`;
  const point = digits.length - decimals.length - 6;
  const price = `${digits.slice(0, point)}.${digits.slice(point)}`;
  return price.replace(/^0+(?=\d)/, '').replace(/\.?0+$/, '');
}

/** What the models of a provider are made from. */
export interface ModelChoice {
  /** `all`, or names with commas; undefined = those that it has. */
  readonly chosen: string | undefined;
  readonly prices: string | undefined;
  /** Those that it has. */
  readonly current: readonly WantedModel[];
  /** Those that it lists. */
  readonly listed: readonly WantedModel[];
}

/** The models of a provider after a choice; undefined = they stay as they are. Throws a CommandRefused. */
export function chosenModels({ chosen, prices, current, listed }: ModelChoice): WantedModel[] | undefined {
  if (chosen === undefined && prices === undefined) return undefined;
  const priced = pricesOf(prices);
  const names =
    chosen === undefined
      ? current.map(({ model }) => model)
      : chosen === 'all'
        ? listed.map(({ model }) => model)
        : listOf(chosen);
  if (names.length > MAX_PROVIDER_MODELS) {
    throw new CommandRefused(
      `--models: these are ${names.length} models, and one provider can serve ${MAX_PROVIDER_MODELS}: name those that it shall serve`,
    );
  }
  const stranger = [...priced.keys()].find((name) => !names.includes(name));
  if (stranger !== undefined) {
    throw new CommandRefused(`--prices: ${stranger} is not among its models: name it in --models too`);
  }
  return [...new Set(names)].map((model) => {
    const known = [...current, ...listed].find((each) => each.model === model) ?? { model };
    const pricing = priced.get(model) ?? known.pricing;
    return { ...known, ...(pricing !== undefined && { pricing }) };
  });
}

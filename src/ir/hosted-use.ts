/** Prices of what upstreams do with tools that they run, besides searches of the web. Each has a unit of its own. */
export const HOSTED_PRICES = [
  'x_search',
  /** Searches of the files that the provider keeps. */
  'file_search',
  /** Containers, or runs of code where the provider bills runs. */
  'code_execution',
  /** Output tokens of the pictures that a tool made. */
  'image_generation',
  /** Input tokens of those pictures. */
  'image_generation_input',
] as const;

export type HostedPrice = (typeof HOSTED_PRICES)[number];

/** Every price of a tool that upstreams run. */
export type ToolPrice = HostedPrice | 'web_search';

/** Units by price; absent = none. */
export type HostedUse = Readonly<Partial<Record<HostedPrice, number>>>;

/** Units by price, with searches of the web. */
export type ToolUnits = Readonly<Partial<Record<ToolPrice, number>>>;

export function plusHosted(one: HostedUse | undefined, other: HostedUse | undefined): HostedUse | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const sum: Partial<Record<HostedPrice, number>> = { ...one };
  for (const name of pricesIn(other)) sum[name] = (sum[name] ?? 0) + (other[name] ?? 0);
  return sum;
}

export function pricesIn<Name extends ToolPrice>(use: Readonly<Partial<Record<Name, number>>>): Name[] {
  return Object.keys(use) as Name[];
}

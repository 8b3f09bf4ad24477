import { DOUBLES } from '../../kit/fakes/agents/doubles.ts';
import type { UpstreamDouble } from '../../kit/fakes/agents/upstream-double.ts';
import { type FakeUpstream, openFakeUpstream } from '../../kit/fakes/fake-upstream.ts';
import { openTestGateway, type TestGateway, type TestOptions } from '../../kit/gateway-harness.ts';
import { searchingWith } from './search-engine.ts';

/** A gateway with a search engine, before one upstream of each dialect. */
export interface DoublesGateway {
  readonly gateway: TestGateway;
  readonly engine: FakeUpstream;
  upstreamOf(double: UpstreamDouble): FakeUpstream;
  /** Forgets requests and answers of the engine and of all upstreams. */
  clear(): void;
  close(): Promise<void>;
}

/** The models of a gateway, by id: their upstreams, in the order in which they are tried. */
export type DoublesByModel = Readonly<Record<string, readonly UpstreamDouble[]>>;

/** A model `one/<dialect>` for each dialect. */
export const ONE_OF_EACH: DoublesByModel = Object.fromEntries(
  DOUBLES.map((double) => [`one/${double.dialect}`, [double]]),
);

export async function openDoublesGateway(
  models: DoublesByModel = ONE_OF_EACH,
  options: TestOptions = {},
): Promise<DoublesGateway> {
  const engine = await openFakeUpstream();
  const upstreams = new Map(
    await Promise.all(DOUBLES.map(async (double) => [double, await openFakeUpstream()] as const)),
  );
  const upstreamOf = (double: UpstreamDouble): FakeUpstream => {
    const upstream = upstreams.get(double);
    if (upstream === undefined) throw new Error(`there is no upstream of ${double.dialect}`);
    return upstream;
  };
  const gateway = await openTestGateway(
    {
      providers: DOUBLES.map((double) => ({
        slug: double.dialect,
        dialect: double.dialect,
        base_url: upstreamOf(double).url,
        api_key: 'k',
      })),
      models: Object.entries(models).map(([id, doubles]) => ({
        id,
        context_length: 200_000,
        max_output_tokens: 64_000,
        reasoning: { mandatory: false, default_enabled: true },
        endpoints: doubles.map(({ dialect, model }) => ({ provider: dialect, model })),
      })),
      ...searchingWith(engine),
    },
    options,
  );
  const fakes = [engine, ...upstreams.values()];
  return {
    gateway,
    engine,
    upstreamOf,
    clear() {
      for (const fake of fakes) fake.clear();
    },
    async close() {
      await gateway.close();
      await Promise.all(fakes.map((fake) => fake.close()));
    },
  };
}

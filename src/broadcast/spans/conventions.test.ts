import { readFileSync } from 'node:fs';
import * as official from '@opentelemetry/semantic-conventions/incubating';
import { describe, expect, it } from 'vitest';
import { PROVIDER_TABLE } from '../../catalog/providers/provider-table.ts';
import { ATTRIBUTES, type AttributeRow, attributes, CONVENTIONS, providerNameOf } from './conventions.ts';

/** What the registry of the conventions says. */
const registry = JSON.parse(
  readFileSync(new URL('../../../test/kit/fixtures/otel/semantic-conventions.json', import.meta.url), 'utf8'),
) as {
  readonly version: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, readonly string[]>>;
};

const rows: readonly AttributeRow[] = Object.values(ATTRIBUTES);

describe('the table of attributes', () => {
  it('is of the version of the registry', () => {
    expect(CONVENTIONS.version).toBe(registry.version);
    expect(CONVENTIONS.schemaUrl).toBe(`https://opentelemetry.io/schemas/${registry.version}`);
  });

  it('has the names and types of the registry, and says where it goes beyond it', () => {
    for (const { name, type, beyond } of rows) {
      expect([name, beyond === undefined ? type : undefined]).toEqual([name, registry.attributes[name]]);
    }
  });

  it('has names that the package of the conventions has, as has the registry', () => {
    const names = new Set<unknown>(Object.values(official));
    const own = rows.filter(({ beyond }) => beyond === undefined).map(({ name }) => name);
    const unknown = [...own, ...Object.keys(registry.attributes)].filter((name) => !names.has(name));
    expect(unknown).toEqual([]);
    expect(rows.filter(({ name, beyond }) => beyond !== undefined && names.has(name))).toEqual([]);
  });

  it('has each name once', () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  it('writes values by their types, and none that is absent', () => {
    expect(
      attributes({ inputTokens: 3, cost: 2, finishReasons: ['stop'], isStreamed: true, userId: null }),
    ).toEqual([
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '3' } },
      { key: 'gen_ai.usage.cost', value: { doubleValue: 2 } },
      {
        key: 'gen_ai.response.finish_reasons',
        value: { arrayValue: { values: [{ stringValue: 'stop' }] } },
      },
      { key: 'gen_ai.request.stream', value: { boolValue: true } },
    ]);
  });

  it('names providers as the conventions do', () => {
    const ours = Object.values(PROVIDER_TABLE).map(({ name }) => providerNameOf(name));
    const known = registry.values['gen_ai.provider.name'] ?? [];
    const missing = known.filter((name) => !ours.includes(name));
    // A name for all of Google's, the inference service of Azure, and a provider that the gateway does not know.
    expect(missing).toEqual(['gcp.gen_ai', 'azure.ai.inference', 'ibm.watsonx.ai']);
  });
});

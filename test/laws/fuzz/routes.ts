import { Agent, request } from 'undici';
import type { TestGateway } from '../../kit/gateway-harness.ts';
import { type FuzzReport, problemOf } from './bodies.ts';
import { JUNK, pick, seededRandom } from './mutate.ts';

/** The part of a schema that values are made from. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly $ref?: string;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly { readonly in: string; readonly name: string; readonly schema?: Schema }[];
  readonly body: Schema | undefined;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, any>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** Every operation of the interface description that takes JSON or nothing. */
async function operationsOf(gateway: TestGateway): Promise<{ operations: Operation[]; resolve: Resolve }> {
  const description = (await (await gateway.fetch('/openapi.json')).json()) as Description;
  const named = description.components?.schemas ?? {};
  const resolve: Resolve = (schema) => {
    const name = /^#\/components\/schemas\/(.+)$/.exec(schema?.$ref ?? '')?.[1];
    return name === undefined ? schema : named[name];
  };
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const content = operation.requestBody?.content;
      if (content !== undefined && content['application/json'] === undefined) return [];
      const parameters = operation.parameters ?? [];
      return [{ method: method.toUpperCase(), path, parameters, body: content?.['application/json'].schema }];
    }),
  );
  return { operations, resolve };
}

type Resolve = (schema: Schema | undefined) => Schema | undefined;

const LONG_LIST_ENTRIES = 40;

/** Makes values that look like what a schema asks for, with something wrong in many places. */
class Maker {
  readonly #random: () => number;
  readonly #resolve: Resolve;

  constructor(random: () => number, resolve: Resolve) {
    this.#random = random;
    this.#resolve = resolve;
  }

  value(given: Schema | undefined, depth = 0): unknown {
    const schema = this.#resolve(given);
    if (schema === undefined || depth > 5 || this.#random() < 0.25) return pick(this.#random, JUNK);
    if (schema.const !== undefined) return schema.const;
    if (schema.enum !== undefined) return pick(this.#random, schema.enum);
    if (schema.anyOf !== undefined) return this.value(pick(this.#random, schema.anyOf), depth + 1);
    if (schema.properties !== undefined) return this.#object(schema.properties, depth);
    if (schema.items !== undefined) return this.#list(schema.items, depth);
    return pick(this.#random, JUNK);
  }

  #object(properties: Readonly<Record<string, Schema>>, depth: number): object {
    const entries = Object.entries(properties)
      .filter(() => this.#random() < 0.7)
      .map(([name, schema]) => [name, this.value(schema, depth + 1)]);
    if (this.#random() < 0.2) entries.push(['nobody_knows', pick(this.#random, JUNK)]);
    return Object.fromEntries(entries);
  }

  #list(items: Schema, depth: number): unknown[] {
    const length = this.#random() < 0.3 ? LONG_LIST_ENTRIES : Math.floor(this.#random() * 4);
    return Array.from({ length }, () => this.value(items, depth + 1));
  }

  text(): string {
    const value = pick(this.#random, JUNK);
    return typeof value === 'string' ? value : JSON.stringify(value);
  }
}

/** What is asked of one operation: its path filled in, with a query. */
function addressOf({ path, parameters }: Operation, maker: Maker, random: () => number): string {
  const filled = path.replaceAll(/\{[^}]+\}/g, () =>
    encodeURIComponent(Buffer.from(maker.text()).toString()).slice(0, 300),
  );
  const query = new URLSearchParams();
  for (const parameter of parameters) {
    if (parameter.in !== 'query' || random() < 0.4) continue;
    for (let count = random() < 0.2 ? 3 : 1; count > 0; count--) query.append(parameter.name, maker.text());
  }
  if (random() < 0.2) query.append('nobody_knows', maker.text());
  return `${filled === '' ? '/' : filled}?${query}`;
}

/**
 * Sends `count` requests to the routes of the interface description, with both kinds of key, and returns the replies.
 */
export async function fuzzRoutes(gateway: TestGateway, count: number, seed: number): Promise<FuzzReport> {
  const random = seededRandom(seed);
  const { operations, resolve } = await operationsOf(gateway);
  const maker = new Maker(random, resolve);
  const agent = new Agent({ connections: 8 });
  const statuses: Record<number, number> = {};
  const defects: FuzzReport['defects'][number][] = [];
  let left = count;
  const worker = async () => {
    while (left-- > 0) {
      const operation = pick(random, operations);
      const path = `${operation.method} ${addressOf(operation, maker, random)}`;
      const body = operation.body === undefined ? undefined : JSON.stringify(maker.value(operation.body));
      const key = random() < 0.8 ? gateway.managementKey : gateway.apiKey;
      const started = performance.now();
      try {
        const reply = await request(gateway.url + path.slice(operation.method.length + 1), {
          method: operation.method as 'GET',
          dispatcher: agent,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          ...(body !== undefined && { body }),
        });
        const text = await reply.body.text();
        statuses[reply.statusCode] = (statuses[reply.statusCode] ?? 0) + 1;
        const isFine = reply.statusCode < 300;
        const problem = isFine ? undefined : problemOf(reply.statusCode, text, performance.now() - started);
        if (problem !== undefined) defects.push({ path, body: body ?? '', problem });
      } catch (error) {
        defects.push({ path, body: body ?? '', problem: String(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  await agent.close();
  return { statuses, defects };
}

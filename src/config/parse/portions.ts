import { isJsonObject } from '../../kit/json/json.ts';

/** Members in a portion: together they take some milliseconds to check. */
const MODELS_IN_PORTION = 64;
const PROMPTS_IN_PORTION = 256;

/** A piece of a configuration file that is read and checked by itself. */
export interface Portion {
  readonly value: Readonly<Record<string, unknown>>;
  /** Models in the portions before it. */
  readonly modelsBefore: number;
}

/**
 * Cuts a file into portions: everything but many models and prompts, then these in pieces. A usual file is one portion.
 * No rule of the schema compares two models or two prompts, and all sections are optional.
 */
export function* portionsOf(file: object): Generator<Portion> {
  const { models, prompts } = file as Record<string, unknown>;
  const manyModels = Array.isArray(models) && models.length > MODELS_IN_PORTION ? models : [];
  // Names alone: the entries of many prompts would take a slice of their own.
  const names = isJsonObject(prompts) ? Object.keys(prompts) : [];
  const manyPrompts = names.length > PROMPTS_IN_PORTION ? names : [];
  const rest = {
    ...file,
    ...(manyModels.length > 0 && { models: [] }),
    ...(manyPrompts.length > 0 && { prompts: {} }),
  };
  yield { value: rest, modelsBefore: 0 };
  for (let at = 0; at < manyModels.length; at += MODELS_IN_PORTION) {
    yield { value: { models: manyModels.slice(at, at + MODELS_IN_PORTION) }, modelsBefore: at };
  }
  for (let at = 0; at < manyPrompts.length; at += PROMPTS_IN_PORTION) {
    const some = Object.fromEntries(
      manyPrompts
        .slice(at, at + PROMPTS_IN_PORTION)
        .map((name) => [name, (prompts as object)[name as never]]),
    );
    yield { value: { prompts: some }, modelsBefore: 0 };
  }
}

export function inWholeFile<P extends { readonly path: string }>({ modelsBefore }: Portion, problem: P): P {
  if (modelsBefore === 0) return problem;
  const path = problem.path.replace(
    /^models\[(\d+)\]/,
    (_, index: string) => `models[${Number(index) + modelsBefore}]`,
  );
  return { ...problem, path };
}

export class JoinedPortions {
  #value: Record<string, unknown> | undefined;
  #models: unknown[] = [];
  #prompts: Record<string, unknown> = {};

  add(value: unknown): void {
    const { models, prompts } = value as Record<string, unknown>;
    if (this.#value === undefined) {
      this.#value = { ...(value as object) };
      if (Array.isArray(models)) this.#value.models = this.#models;
      if (isJsonObject(prompts)) this.#value.prompts = this.#prompts;
    }
    if (Array.isArray(models)) for (const model of models) this.#models.push(model);
    if (isJsonObject(prompts)) {
      for (const [name, prompt] of Object.entries(prompts)) setOwn(this.#prompts, name, prompt);
    }
  }

  get value(): object {
    return this.#value ?? {};
  }
}

/** Plain assignment of `__proto__` would change the prototype instead. */
export function setOwn(into: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') into[name] = value;
  else Object.defineProperty(into, name, { value, enumerable: true, writable: true, configurable: true });
}

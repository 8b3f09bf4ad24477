import createRouter, { type HTTPMethod } from 'find-my-way';
import type { EncodeError } from '../../dialects/shared/answers/error-envelope.ts';
import { encodeEnvelope } from '../../dialects/shared/answers/error-envelope.ts';
import { compileValidator, type Validator } from '../../kit/json/validate.ts';
import { nextTurn } from '../../kit/loop/turns.ts';
import type { Route } from '../route.ts';

/** A row with its validators; each compiles its schema when first used. */
export interface CompiledRoute {
  readonly route: Route;
  readonly headers: DeclaredHeaders;
  readonly validators: {
    readonly query: Validator | undefined;
    readonly headers: Validator | undefined;
    readonly body: Validator | undefined;
  };
}

/** Names of the headers that a row declares, in lower case, and their lengths: most others differ in that already. */
export interface DeclaredHeaders {
  readonly names: ReadonlySet<string>;
  readonly lengths: ReadonlySet<number>;
}

export interface RouteMatch {
  readonly compiled: CompiledRoute;
  readonly params: Readonly<Record<string, string>>;
  /** The query string, without the question mark. */
  readonly search: string;
}

export interface RouteMiss {
  /** Methods that the path does answer to; empty when it is unknown. */
  readonly allowed: readonly string[];
  readonly encodeError: EncodeError;
}

const NO_PARAMETERS: RouteMatch['params'] = {};

const MAX_PARAMETER_CHARACTERS = 512;

/** Finds the row of a request. Built once per table and base path. */
export class RouteIndex {
  readonly #router = createRouter({ ignoreTrailingSlash: true, maxParamLength: MAX_PARAMETER_CHARACTERS });
  /** Rows without path parameters, by method and path: the router is asked only for others. */
  readonly #fixed = new Map<string, Map<string, RouteMatch>>();
  readonly #methods = new Set<string>();
  readonly #prefixes: readonly string[];
  readonly #compiled: readonly CompiledRoute[];

  constructor(routes: readonly Route[], basePath: string) {
    this.#compiled = routes.map(compile);
    this.#prefixes = [...new Set([basePath, '/v1'])];
    for (const compiled of this.#compiled) {
      const { route } = compiled;
      this.#methods.add(route.method);
      for (const prefix of route.mount === 'root' ? [''] : this.#prefixes) {
        const pattern = `${prefix}${route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
        this.#router.on(route.method, pattern, () => {}, compiled);
        if (!pattern.includes(':')) this.#fix(pattern, compiled);
      }
    }
  }

  /** Paths of the rows below the base path, such as `/keys/{hash}`. */
  get paths(): readonly string[] {
    return this.#compiled.flatMap(({ route }) => (route.mount === 'api' ? [route.path] : []));
  }

  #fix(path: string, compiled: CompiledRoute): void {
    const { method } = compiled.route;
    const ofMethod = this.#fixed.get(method) ?? new Map<string, RouteMatch>();
    this.#fixed.set(method, ofMethod);
    ofMethod.set(path, { compiled, params: NO_PARAMETERS, search: '' });
  }

  /** Compiles the schemas of rows now, rather than when they are first needed; yields to the event loop after each. */
  async compile(isServed: (route: Route) => boolean): Promise<void> {
    for (const { route, validators } of this.#compiled) {
      if (!isServed(route)) continue;
      for (const validator of Object.values(validators)) validator?.issuesOf({});
      await nextTurn();
    }
  }

  find(method: string, url: string): RouteMatch | RouteMiss {
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const found = this.#find(method === 'HEAD' ? 'GET' : method, path);
    if (found !== undefined) return mark === -1 ? found : { ...found, search: url.slice(mark + 1) };
    const others = [...this.#methods].filter((other) => this.#find(other, path) !== undefined);
    const allowed = others.flatMap((other) => (other === 'GET' ? ['GET', 'HEAD'] : [other]));
    return { allowed, encodeError: this.#errorsOf(path) };
  }

  /** Finds a row by a path without its query. */
  #find(method: string, path: string): RouteMatch | undefined {
    const fixed = this.#fixed.get(method)?.get(path);
    if (fixed !== undefined) return fixed;
    const found = this.#router.find(method as HTTPMethod, path);
    if (found === null) return undefined;
    return {
      compiled: found.store as CompiledRoute,
      params: found.params as Record<string, string>,
      search: '',
    };
  }

  /** Errors of a path without a row look like those of the row above it: clients of one format stay in it. */
  #errorsOf(path: string): EncodeError {
    for (const prefix of this.#prefixes) {
      const above = this.#compiled.find(
        ({ route }) => route.mount === 'api' && `${path}/`.startsWith(`${prefix}${route.path}/`),
      );
      if (above !== undefined) return above.route.encodeError;
    }
    return encodeEnvelope;
  }
}

function compile(route: Route): CompiledRoute {
  const { query, headers, body } = route.request;
  const names = Object.keys(headers?.properties ?? {});
  return {
    route,
    headers: { names: new Set(names), lengths: new Set(names.map(({ length }) => length)) },
    validators: {
      query: query === null ? undefined : compileValidator(query),
      headers: headers === null ? undefined : compileValidator(headers),
      body: body === null ? undefined : compileValidator(body),
    },
  };
}

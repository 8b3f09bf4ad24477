import type { TObject, TSchema } from 'typebox';
import type { EncodeError } from '../dialects/shared/answers/error-envelope.ts';
import type { AnyEndpoint, Method, ParamsOf, QueryOf, RateClass } from '../endpoints/endpoint.ts';
import type { CallerOf, KeyPermission } from '../endpoints/permissions.ts';
import type { RequestFormat } from '../ir/items.ts';
import type { Json, JsonObject } from '../kit/json/json.ts';
import type { InboundRequest } from '../net/http1/server/inbound-request.ts';
import type { HttpDependencies, HttpSettings, HttpTimes } from './dependencies.ts';
import type { HttpExchange } from './exchange/http-exchange.ts';

/** Where a route answers: below the base path and `/v1`, or at the root of the server. */
export type Mount = 'api' | 'root';

export interface RouteResponse {
  readonly description: string;
  readonly content: Readonly<Record<string, TSchema>>;
}

/** A request that works and its answer, for the interface description. */
export interface RouteExample {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** Further bodies that work, each with what it is an example of. */
  readonly otherBodies?: Readonly<Record<string, JsonObject>>;
  /** Names of files by the part of the form that holds them. */
  readonly form?: Readonly<Record<string, string>>;
  /** The method of an official client that sends this request. */
  readonly client?: { readonly library: 'openai' | 'anthropic'; readonly method: string };
  /** Body of the reply: a JSON value, or text. */
  readonly answer: Json;
}

/**
 * One row of the route table. Everything a route is; nothing about it is decided elsewhere. Most rows are endpoints
 * that HTTP serves (`served`); the others answer in a way of their own, as a stream or with a cookie.
 */
export interface Route<
  P extends KeyPermission = KeyPermission,
  Path extends string = string,
  Query extends TObject = TObject,
> {
  readonly method: Method;
  readonly mount: Mount;
  /** With `{name}` for path parameters. */
  readonly path: Path;
  /** Unique. */
  readonly operationId: string;
  readonly summary: string;
  /** Heading in the interface description. */
  readonly tag: string;
  readonly permission: P;
  /** If true for the current settings and the request, the permission is not asked for. */
  readonly isPublic?: (settings: HttpSettings, request: InboundRequest) => boolean;
  /** Exchanges a key for a session: how many keys can be tried is limited. */
  readonly isSignIn?: true;
  readonly rateClass: RateClass;
  /** Format of the generations that it runs; absent = it runs none, or calls of tools. */
  readonly format?: RequestFormat;
  readonly request: {
    /** Declared query parameters; `unknown-parameters.ts` says what becomes of others. */
    readonly query: Query | null;
    /** Declared headers, by their names in lower case. */
    readonly headers: TObject | null;
    readonly body: TSchema | null;
    /** Further problems of the valid members of a body; called only if other members are invalid. */
    furtherIssues?: AnyEndpoint['furtherIssues'];
    /** The body is a form with these parts instead. The handler reads it, under limits of its own. */
    readonly form?: TSchema;
  };
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Headers that a successful response may have, by name: what they say. */
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly encodeError: EncodeError;
  /** Answers a call. A thrown GatewayError becomes the reply. */
  handler(call: Call<P, Path, Query>): Promise<void> | void;
}

/** A row whose types follow from its permission, path and schemas. */
export function route<P extends KeyPermission, const Path extends string, Query extends TObject = TObject>(
  row: Route<P, Path, Query>,
): Route<P, Path, Query> {
  return row;
}

/** A row as the table lists it. */
export interface ListedRoute extends Route {
  /** As it was recorded; null for what was removed: such a row only refuses, and is not described. */
  readonly example: RouteExample | null;
}

/** A request that has passed everything its row declares. */
export interface Call<
  P extends KeyPermission = KeyPermission,
  Path extends string = string,
  Query extends TObject = TObject,
> {
  readonly exchange: HttpExchange;
  readonly services: HttpDependencies;
  readonly settings: HttpSettings;
  readonly times: HttpTimes;
  readonly params: ParamsOf<Path>;
  /** Declared query parameters, of their declared types. */
  readonly query: QueryOf<Query>;
  /** Everything in the query, as it came. */
  readonly rawQuery: URLSearchParams;
  /** Declared headers that are there, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Valid by the row's schema; empty on rows without one. */
  readonly body: JsonObject;
  readonly caller: CallerOf<P>;
  readonly server: ServerView;
}

/** The server as handlers see it. */
export interface ServerView {
  readonly state: ServerState;
  /** The interface description, made from the table, as JSON. */
  document(): Uint8Array;
  /** The interface description as a page. */
  page(): { readonly html: Uint8Array; readonly contentSecurityPolicy: string };
}

export type ServerState = 'starting' | 'ready' | 'draining';

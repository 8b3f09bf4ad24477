import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorStatus } from '../contract/envelopes/error-meanings.ts';
import type { JsonObject } from '../kit/json/json.ts';
import type { Issue } from '../kit/json/validate.ts';
import type { CallerOf, KeyPermission } from './permissions.ts';
import type { EndpointServices } from './services.ts';

/**
 * The limit that a request counts against: generations (also in flight), files, analytics queries, datasets; the
 * others have none.
 */
export type RateClass = 'generation' | 'files' | 'analytics' | 'datasets' | 'management' | 'public' | 'probe';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The path parameters of a path, by name: `{name}` each. */
export type ParamsOf<Path extends string> = Readonly<Record<NamesIn<Path>, string>>;

type NamesIn<Path extends string> = string extends Path
  ? string
  : Path extends `${string}{${infer Name}}${infer Rest}`
    ? Name | NamesIn<Rest>
    : never;

/** The query parameters of a schema; whatever came, where none is declared. */
export type QueryOf<Query extends TObject> = TObject extends Query ? JsonObject : Static<Query>;

/** The body of a schema; any object, where none is declared. */
export type BodyOf<Body extends TSchema> = TSchema extends Body ? JsonObject : Static<Body>;

/**
 * What is asked of the gateway, and what it answers with: all of it that does not depend on the way in. HTTP serves it
 * at its path. What it takes is checked by its schemas before `run` is called, and `run` gets it with their types.
 */
export interface Endpoint<
  P extends KeyPermission = KeyPermission,
  Path extends string = string,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Reply extends TSchema = TSchema,
> {
  readonly method: Method;
  /** Below the base path and `/v1`, with `{name}` for path parameters. */
  readonly path: Path;
  /** Unique. */
  readonly operationId: string;
  readonly summary: string;
  /** Heading in the interface description. */
  readonly tag: string;
  readonly permission: P;
  readonly rateClass: RateClass;
  readonly query?: Query;
  readonly body?: Body;
  readonly reply: Reply;
  /** 200 if absent. */
  readonly status?: 201;
  /** Refusals besides those that follow from the permission, the rate class, query, body and events. */
  readonly refusals?: readonly ErrorStatus[];
  /** It asks the events: that may take long, and some of them may be missing. */
  readonly readsEvents?: true;
  /** Further problems of the valid members of a body; called only if other members are invalid. */
  furtherIssues?(valid: Partial<BodyOf<Body>>, services: EndpointServices): readonly Issue[];
  /** Answers with the body of the reply. A thrown GatewayError becomes the reply. */
  run(call: EndpointCall<P, Path, Query, Body>): Static<Reply> | Promise<Static<Reply>>;
}

/** A request that has passed everything that its endpoint declares. */
export interface EndpointCall<
  P extends KeyPermission = KeyPermission,
  Path extends string = string,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
> {
  readonly services: EndpointServices;
  readonly settings: EndpointSettings;
  readonly caller: CallerOf<P>;
  readonly params: ParamsOf<Path>;
  readonly query: QueryOf<Query>;
  readonly body: BodyOf<Body>;
  /** Aborted when the caller has gone, or the time of the request is over. */
  readonly signal: AbortSignal;
}

export interface EndpointSettings {
  /** The operator's word in identifiers. */
  readonly vendor: string;
}

export function endpoint<
  P extends KeyPermission,
  const Path extends string,
  Reply extends TSchema,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
>(row: Endpoint<P, Path, Query, Body, Reply>): Endpoint<P, Path, Query, Body, Reply> {
  return row;
}

/**
 * An endpoint of which only what all have in common is known. The caller of `run` has checked the call by its schemas.
 */
export interface AnyEndpoint extends Omit<Endpoint, 'furtherIssues' | 'run'> {
  furtherIssues?(valid: never, services: EndpointServices): readonly Issue[];
  run(call: never): unknown;
}

import type { JsonObject } from '../kit/json/json.ts';

/**
 * The fate of a request field. `passed_on`: no format documents it, and the upstream got it as it is. `ignored`: it
 * arrived, and means nothing there.
 */
export const TRANSLATION_ACTIONS = ['dropped', 'coerced', 'renamed', 'passed_on', 'ignored'] as const;

export type TranslationAction = (typeof TRANSLATION_ACTIONS)[number];

/** One request field that was lost or changed on the way to the upstream. */
export interface TranslationEntry {
  readonly field: string;
  readonly action: TranslationAction;
  readonly detail: string;
}

export const NO_ENTRIES: readonly TranslationEntry[] = [];

/** One upstream call. `status`: what it answered; when it did not, what that means to the caller (502, 524). */
export interface AttemptRecord {
  readonly provider: string;
  readonly model: string;
  readonly status: number;
  /**
   * Set for a failed attempt if the request asks for the echo of what was sent: the provider, and its answer.
   */
  readonly provider_name?: string;
  readonly raw?: string;
}

export type Strategy =
  | 'direct'
  | 'auto'
  | 'free'
  | 'latest'
  | 'alias'
  | 'fallback'
  | 'pareto'
  | 'bodybuilder'
  | 'fusion';

/** Something that was done to a request besides sending it on. */
export interface PipelineEntry {
  /** `guardrail`: what a guardrail found, with its id and scope. */
  readonly type:
    | 'guardrail'
    | 'guardrail_receipt'
    | 'plugin'
    | 'server_tools'
    | 'response_healing'
    | 'context_compression';
  readonly name: string;
  readonly summary?: string;
  readonly guardrail_id?: string;
  readonly guardrail_scope?: string;
  readonly data?: JsonObject;
  readonly cost_usd?: number | null;
}

/** The routing metadata object, with the keys it has on the wire. */
export interface RoutingMetadata {
  readonly requested: string;
  readonly strategy: Strategy;
  readonly region: string | null;
  readonly summary: string;
  /** Upstream calls made; 0 = none was reached. */
  readonly attempt: number;
  readonly is_byok: boolean;
  readonly endpoints: {
    readonly total: number;
    readonly available: readonly {
      readonly provider: string;
      readonly model: string;
      readonly selected: boolean;
    }[];
    readonly rejected?: readonly {
      readonly provider: string;
      readonly model: string;
      readonly filter: string;
      readonly reason: string;
    }[];
  };
  readonly attempts?: readonly AttemptRecord[];
  /** Criteria of a router: floors, groups. */
  readonly params?: JsonObject;
  readonly pipeline?: readonly PipelineEntry[];
  readonly translation?: readonly TranslationEntry[];
}

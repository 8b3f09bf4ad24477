/** One request field that was lost or changed on the way to the upstream. */
export interface TranslationEntry {
  readonly field: string;
  readonly action: 'dropped' | 'coerced' | 'renamed';
  readonly detail: string;
}

/** One upstream call. `status`: what it answered; when it did not, what that means to the caller (502, 524). */
export interface AttemptRecord {
  readonly provider: string;
  readonly model: string;
  readonly status: number;
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
  readonly translation?: readonly TranslationEntry[];
}

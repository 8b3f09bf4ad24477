/** Whether a server answered a GET without a credential. */
export type ReachView =
  | {
      readonly ok: true;
      readonly status: number;
      readonly milliseconds: number;
      /** How far its clock is ahead of ours; null if it sends no `Date`. */
      readonly clock_ahead_ms: number | null;
    }
  /** The problem names no address. */
  | { readonly ok: false; readonly problem: string };

/** The state of one address of an active provider. */
export interface ProviderView {
  readonly provider: string;
  /** False = it lacks a credential that it probably needs. */
  readonly has_credential: boolean;
  /** Without path, user and query; null if there is no address. */
  readonly origin: string | null;
  /** Null if there is no address. */
  readonly reach: ReachView | null;
  /** The last failed call with the gateway's credential; null = none since the start, or no gateway runs. */
  readonly last_failure: {
    readonly at: string;
    readonly model: string;
    /** What it answered; where it did not, what that means to the caller. */
    readonly status: number;
    /** Code of the system or of TLS if the connection broke. */
    readonly errno: string | null;
    /** A later call succeeded. */
    readonly is_over: boolean;
  } | null;
}

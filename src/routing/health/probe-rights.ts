/** The right to probe a place that is out of service, which one process has at a time. */
export interface ProbeRights {
  /** False if another process has it. True also if nothing is known of others. Never rejects. */
  take(place: string): Promise<boolean>;
  /** Gives it back; no process probes the place for `keepMs`. */
  end(place: string, keepMs: number): void;
}

/** The unit that goes out of service: a site, for all or for one account. */
export interface ServicePlace {
  readonly site: string;
  /** Absent = for all. */
  readonly account?: string;
}

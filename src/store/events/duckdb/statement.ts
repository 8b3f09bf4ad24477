/** A statement and what is bound to the names in it. */
export interface Statement {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, string | bigint>>;
}

/** Statements with the same values bound to each; those that name none of them are given none. */
export function statementsOf(
  sql: readonly string[],
  parameters: Readonly<Record<string, bigint>> = {},
): Statement[] {
  return sql.map((text) => ({
    sql: text,
    parameters: Object.fromEntries(Object.entries(parameters).filter(([name]) => text.includes(`$${name}`))),
  }));
}

/** A statement that nothing is bound to. */
export function plain(sql: string): Statement {
  return { sql, parameters: {} };
}
